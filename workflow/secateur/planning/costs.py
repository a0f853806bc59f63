"""Predicts the cost of an experiment, from records of earlier jobs and from the texts that a language model will read."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from secateur.config.compose import option
from secateur.config.limits import command, unlimited
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.datasets.loaders import load_corpus, load_questions, reads_folder
from secateur.datasets.schema import limit_questions, sample_questions
from secateur.ecs.selection.pool import max_pairs
from secateur.evaluation.subsets import members
from secateur.planning.plan import Variant

__all__ = ["Cost", "Estimate", "known_costs", "measured_costs", "pairs_to_read", "shipped_costs"]

SCORING = "score_candidates"  # the rule in which a language model reads pairs of question and passage
TOKENS = ("tokens_read", "tokens_in", "tokens_out")  # counts of a record: tokens that a language model reads and writes
HERE, OTHER_DATA, REFERENCE = "here", "here on other data", "on a reference machine with toy data"
HEAD = """# Median cost of a job of each rule on a reference machine, used where this machine has no record: CPU seconds, tokens that a
# language model reads and writes, and pairs of question and passage. `start`: CPU seconds of a job outside its stage.
# Written after a run in a new clone by
#   secateur costs {experiment} --whole {whole:.0f} > data/costs.yaml"""


@dataclass(frozen=True)
class Cost:
    """The median cost of a job of a rule.

    seconds: CPU seconds of the stage; start: CPU seconds outside it, for Python, imports and Snakemake; tokens: that a
    language model reads and writes; pairs: of question and passage; measured: on which jobs.
    """

    seconds: float
    tokens: float | None = None
    pairs: float | None = None
    start: float = 0.0
    measured: str = HERE


def measured_costs(ledger: Path, names: Collection[str]) -> dict[str, Cost]:
    """Cost by rule, from the jobs that succeeded on this machine: those on the same data, else those on any data.

    ledger: the table job_runs; names: the experiment, its data sets and its corpora.
    """
    if not ledger.exists():
        return {}
    jobs = _jobs(ledger)
    same = jobs.filter(pl.col("data").is_null() | pl.col("data").is_in(list(names)))
    return _medians(jobs, OTHER_DATA) | _medians(same, HERE)


def _jobs(ledger: Path) -> pl.DataFrame:
    """(experiment, stage, data, seconds, tokens, pairs) of every job that succeeded.

    data: data set or corpus; the experiment for a job without options; else null, e.g. for a model.
    """
    counts = [_number(f"counts.{name}") for name in TOKENS]
    tokens = pl.when(pl.any_horizontal(*(count.is_not_null() for count in counts))).then(pl.sum_horizontal(*counts))
    pairs = pl.when(pl.col("stage") == SCORING).then(_number("metrics.pairs"))
    dataset, corpus, axes = (_text(f"axes{name}") for name in (".dataset", ".corpus", ""))
    data = pl.coalesce(dataset, corpus, pl.when(axes == "{}").then("experiment"))
    jobs = read_table(TABLES["job_runs"], ledger).filter(~pl.col("failed"))
    return jobs.select("experiment", "stage", data=data, seconds=_number("cpu_seconds"), tokens=tokens, pairs=pairs)


def _text(path: str) -> pl.Expr:
    return pl.col("record").str.json_path_match(f"$.{path}")


def _number(path: str) -> pl.Expr:
    return _text(path).cast(pl.Float64)


def _medians(jobs: pl.DataFrame, measured: str) -> dict[str, Cost]:
    rows = jobs.drop("experiment", "data").group_by("stage").median()
    return {row.pop("stage"): Cost(**row, measured=measured) for row in rows.iter_rows(named=True)}


def known_costs(ledger: Path, shipped: Path, names: Collection[str]) -> dict[str, Cost]:
    """Cost by rule: `measured_costs`, else that of the reference machine in the file `shipped` (data/costs.yaml)."""
    reference = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    costs = {rule: Cost(**row, measured=REFERENCE) for rule, row in reference["rules"].items()}
    costs |= measured_costs(ledger, names)
    return {rule: replace(cost, start=reference["start"]) for rule, cost in costs.items()}


def shipped_costs(ledger: Path, experiment: str, whole: float, machine: str) -> str:
    """The text of data/costs.yaml. whole: CPU seconds of the experiment's first run in a new clone."""
    jobs = _jobs(ledger).filter(experiment=experiment) if ledger.exists() else pl.DataFrame()
    if jobs.is_empty():
        raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
    start = (whole - jobs["seconds"].sum()) / jobs.height
    lines = [HEAD.format(experiment=experiment, whole=whole), f"machine: {machine}", f"start: {start:.2f}", "rules:"]
    for rule, cost in sorted(_medians(jobs, HERE).items()):
        row = {"seconds": round(cost.seconds, 2)}
        row |= {name: round(value) for name in ("tokens", "pairs") if (value := getattr(cost, name)) is not None}
        lines.append(f"  {rule}: {{{', '.join(f'{name}: {value}' for name, value in row.items())}}}")
    return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Estimate:
    """The cost of the jobs that would run.

    counts: jobs by rule; costs: cost of a job by rule; pairs: of question and passage that a language model will read, at
    most; None if unknown.
    """

    counts: Mapping[str, int]
    costs: Mapping[str, Cost]
    pairs: int | None = None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each rule, null where its cost is unknown; the column of tokens only if some are known."""
        columns = ["rule", "jobs", "CPU s each", "CPU s", "tokens", "measured"]
        rows = [dict.fromkeys(columns) | {"rule": rule, "jobs": jobs} for rule, jobs in self.counts.items()]
        for row in rows:
            rule, jobs = row["rule"], row["jobs"]
            if cost := self.costs.get(rule):
                units = self.pairs / cost.pairs if rule == SCORING and self.pairs and cost.pairs else jobs
                seconds = cost.seconds * units + cost.start * jobs
                row |= {"CPU s each": seconds / jobs, "CPU s": seconds, "measured": cost.measured}
                row["tokens"] = None if cost.tokens is None else round(cost.tokens * units)
        if all(row["tokens"] is None for row in rows):
            columns.remove("tokens")
        return [{column: row[column] for column in columns} for row in rows]

    @property
    def seconds(self) -> float:
        """CPU seconds of the rules with a known cost."""
        return sum(row["CPU s"] or 0.0 for row in self.rows)

    @property
    def unknown(self) -> list[str]:
        """The rules without a known cost."""
        return [rule for rule in self.counts if rule not in self.costs]

    def summary(self, cores: int) -> str:
        """Jobs, minutes and pairs in one line."""
        clauses = [f"{sum(self.counts.values())} jobs to run"]
        if len(self.unknown) < len(self.counts):
            minutes = self.seconds / 60
            time = f"about {minutes:.1f} minutes of one core, at least {minutes / cores:.1f} on {cores}"
            clauses.append(time + self._elsewhere())
        if self.unknown:
            clauses.append(f"cost unknown: {', '.join(self.unknown)}")
        if SCORING in self.counts and self.pairs is None:
            clauses.append(f"logs/{SCORING} will tell how many pairs of question and passage a language model reads")
        elif SCORING in self.counts:
            clauses.append(f"a language model reads at most {self.pairs:,} pairs of question and passage")
        return "; ".join(clauses)

    def _elsewhere(self) -> str:
        """How many of the known costs were not measured here on the same data."""
        measured = [self.costs[rule].measured for rule in self.counts if rule in self.costs]
        clauses = [
            f"{measured.count(place)} of {len(measured)} rules measured {place}"
            for place in (OTHER_DATA, REFERENCE)
            if place in measured
        ]
        return f", {' and '.join(clauses)} (larger data take longer)" if clauses else ""

    def money(self, core_hour: float | None, million_tokens: float | None) -> str:
        """The cost at the prices of an hour of one core, and of a million tokens at an endpoint; in their currency."""
        clauses, hours = [], self.seconds / 3600
        tokens = sum(row.get("tokens") or 0 for row in self.rows)
        if core_hour is not None:
            clauses.append(f"{hours * core_hour:.2f} for {hours:.2f} hours of one core")
        if million_tokens is not None:
            clauses.append(f"{tokens / 1e6 * million_tokens:.2f} for {tokens:,} tokens, if an endpoint reads them")
        return "; ".join(clauses)


def pairs_to_read(
    conf: Path, variants: Sequence[Variant], overrides: tuple[str, ...], counts: Mapping[str, int]
) -> int | None:
    """Pairs of question and passage that an experiment's jobs read at most, over all models.

    None where the texts must be fetched first. Where some shards exist already, the share of the others.
    """
    if SCORING not in counts:
        return 0
    scored = [v for v in variants if v["family"] == "utility" and v.study is None]
    scored = list({layout.selection(v.wildcards): v for v in scored}.values())
    pairs = [_pairs(conf, v, overrides, counts) for v in scored]
    shards = sum(option(conf, "ecs", v["ecs"], overrides).shards for v in scored)
    return None if None in pairs else math.ceil(sum(pairs) * counts[SCORING] / shards)


def _pairs(conf: Path, variant: Variant, overrides: tuple[str, ...], counts: Mapping[str, int]) -> int | None:
    texts = _texts(conf, variant, overrides, counts)
    if texts is None:
        return None
    questions, evidence, passages = texts
    dataset, ecs = (option(conf, group, variant.wildcards[group], overrides) for group in ("dataset", "ecs"))
    subsets = members(questions, evidence, {"types": {}, "first": dataset.first})
    scored, probed = (subsets[name or "all"] for name in (dataset.scored, dataset.probed))
    unanswerable = pl.col("type").is_in(list(dataset.unanswerable)).fill_null(False)
    answerable = questions.filter(~unanswerable & pl.col("question_id").is_in(list(scored)))
    return max_pairs(answerable, passages, probed, ecs.pool, ecs.pool_aware, ecs.draws)


def _texts(conf: Path, variant: Variant, overrides: tuple[str, ...], counts: Mapping[str, int]) -> tuple | None:
    """Questions, evidence and passages: from the user's folder, else as an earlier run prepared them."""
    corpus, dataset = (option(conf, group, variant.wildcards[group], overrides) for group in ("corpus", "dataset"))
    if corpus.folder and dataset.folder and reads_folder(corpus.format) and reads_folder(dataset.format):
        try:
            passages = load_corpus(corpus.format, {"folder": Path(corpus.folder)}).passages
            name, files = unlimited(variant.dataset)[0], {"folder": Path(dataset.folder)}
            texts = load_questions(dataset.format, dataset.control_of or name, files, passages, "group")
        except SecateurError:
            return None  # the stage that reads these files reports all errors
        texts = sample_questions(texts, dataset.sample)
        texts = limit_questions(texts, dataset.split, dataset.limit) if dataset.limit else texts
        return texts.questions, texts.evidence, passages
    folder = Path(layout.folder(variant.wildcards))
    paths = {name: folder / "questions" / f"{name}.parquet" for name in ("questions", "evidence")}
    paths |= {"passages": Path(layout.passages(variant.wildcards))}
    if {"prepare_corpus", "prepare_dataset"} & set(counts) or not all(path.exists() for path in paths.values()):
        return None
    return tuple(read_table(TABLES[name], path) for name, path in paths.items())
