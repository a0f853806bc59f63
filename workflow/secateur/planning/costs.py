"""What an experiment will cost, said before it runs: by what its rules have taken, and by what its texts make a model read."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import yaml

from secateur.config.compose import option
from secateur.config.limits import command, unlimited
from secateur.core import layout
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.datasets.loaders import load_corpus, load_questions, reads_folder
from secateur.datasets.schema import first_questions, some_questions
from secateur.ecs.selection.foreseen import pairs_at_most
from secateur.evaluation.subsets import members
from secateur.planning.plan import Variant

__all__ = ["Cost", "estimate", "foretold", "known", "money", "pairs_to_read", "taken", "written"]

SCORING = "score_candidates"  # the rule in which a language model reads pairs of question and passage
TOKENS = ("tokens_read", "tokens_in", "tokens_out")  # of a record's counts: what a language model reads and writes
HERE, ELSEWHERE, LENT = "here", "here on other data", "of a reference machine on the shipped toy data"
COLUMNS = ("rule", "jobs", "CPU s each", "CPU s", "tokens", "by jobs")
HEAD = """# What a job of each rule takes on a reference machine, where this one has no record of its own: medians of CPU seconds, of
# tokens that a language model reads and writes, and of pairs of question and passage, where records know them. `start`: CPU
# seconds of a job around its stage. Written after a run in a new clone by
#   secateur costs {experiment} --whole {whole:.0f} > data/costs.yaml"""
Texts = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]  # questions, evidence, passages


@dataclass(frozen=True)
class Cost:
    """What a job of a rule takes: CPU seconds, tokens that a language model reads and writes, and pairs of question and
    passage, where records know them. Medians of earlier jobs; of: which ones. start: CPU seconds around the stage itself,
    for Python, its imports and Snakemake."""

    seconds: float
    tokens: float | None = None
    pairs: float | None = None
    start: float = 0.0
    of: str = HERE


def taken(ledger: Path, names: Collection[str]) -> dict[str, Cost]:
    """What each rule that has succeeded on this machine took: its jobs on the data at hand, else those on any. ledger: the
    table job_runs; names: of the data at hand, and of the experiment."""
    if not ledger.exists():
        return {}
    jobs = _jobs(ledger)
    same = jobs.filter(pl.col("data").is_null() | pl.col("data").is_in(list(names)))
    return _medians(jobs, ELSEWHERE) | _medians(same, HERE)


def _jobs(ledger: Path) -> pl.DataFrame:
    """(experiment, stage, data, seconds, tokens, pairs) of every job that succeeded.

    data: a data set or a corpus; the experiment of a job that has no options; null of others, such as a model's.
    """
    counted = [_noted(f"counts.{name}") for name in TOKENS]
    tokens = pl.when(pl.any_horizontal(*(one.is_not_null() for one in counted))).then(pl.sum_horizontal(*counted))
    pairs = pl.when(pl.col("stage") == SCORING).then(_noted("metrics.pairs"))
    said = {name: pl.col("record").str.json_path_match(f"$.axes{name}") for name in ("", ".dataset", ".corpus")}
    data = pl.coalesce(said[".dataset"], said[".corpus"], pl.when(said[""] == "{}").then("experiment"))
    done = read_table(TABLES["job_runs"], ledger).filter(~pl.col("failed"))
    return done.select("experiment", "stage", data=data, seconds=_noted("cpu_seconds"), tokens=tokens, pairs=pairs)


def _medians(jobs: pl.DataFrame, of: str) -> dict[str, Cost]:
    rows = jobs.drop("experiment", "data").group_by("stage").median()
    return {row.pop("stage"): Cost(**row, of=of) for row in rows.iter_rows(named=True)}


def _noted(path: str) -> pl.Expr:
    """A number of a stage's record; null where it has none."""
    return pl.col("record").str.json_path_match(f"$.{path}").cast(pl.Float64)


def known(ledger: Path, shipped: Path, names: Collection[str]) -> dict[str, Cost]:
    """What each rule took here (`taken`), and on the reference machine (data/costs.yaml) where there is no record of it."""
    lent = yaml.safe_load(shipped.read_text(encoding="utf-8"))
    found = {rule: Cost(**row, of=LENT) for rule, row in lent["rules"].items()} | taken(ledger, names)
    return {rule: replace(cost, start=lent["start"]) for rule, cost in found.items()}


def written(ledger: Path, experiment: str, whole: float, machine: str) -> str:
    """What an experiment's jobs took, as `known` reads it. whole: CPU seconds of its run, the first one in a new clone."""
    jobs = _jobs(ledger).filter(experiment=experiment) if ledger.exists() else pl.DataFrame()
    if jobs.is_empty():
        raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
    start = (whole - jobs["seconds"].sum()) / jobs.height
    lines = [HEAD.format(experiment=experiment, whole=whole), f"machine: {machine}", f"start: {start:.2f}", "rules:"]
    for rule, cost in sorted(_medians(jobs, HERE).items()):
        row = {"seconds": round(cost.seconds, 2)} | _rounded(cost)
        lines.append(f"  {rule}: {{{', '.join(f'{name}: {value}' for name, value in row.items())}}}")
    return "\n".join([*lines, ""])


def _rounded(cost: Cost) -> dict[str, int]:
    return {name: round(value) for name in ("tokens", "pairs") if (value := getattr(cost, name)) is not None}


def estimate(
    counts: Mapping[str, int], costs: Mapping[str, Cost], pairs: int | None = None
) -> tuple[list[dict], float, list[str]]:
    """(a row a rule, CPU seconds of those with a figure, rules without one). pairs: that a language model will read."""
    rows, total = [], 0.0
    for rule, count in counts.items():
        row = {"rule": rule, "jobs": count}
        cost = costs.get(rule)
        if cost is not None:
            times = pairs / cost.pairs if rule == SCORING and pairs and cost.pairs else count
            whole = cost.seconds * times + cost.start * count
            row |= {"CPU s each": whole / count, "CPU s": whole}
            row |= {"tokens": None if cost.tokens is None else round(cost.tokens * times)}
            row |= {"by jobs": cost.of}
            total += whole
        rows.append(row)
    heads = [h for h in COLUMNS if h != "tokens" or any(row.get(h) is not None for row in rows)]
    return [{h: row.get(h) for h in heads} for row in rows], total, [rule for rule in counts if rule not in costs]


def foretold(counts: Mapping[str, int], costs: Mapping[str, Cost], pairs: int | None, cores: int) -> str:
    """One line on what is to come."""
    _, seconds, unknown = estimate(counts, costs, pairs)
    said = [f"{sum(counts.values())} jobs to run"]
    if len(unknown) < len(counts):
        time = f"about {seconds / 60:.1f} minutes of one core, {seconds / 60 / cores:.1f} on {cores} at best"
        said.append(time + _whose(counts, costs))
    said += [f"not counted, for there is no figure: {', '.join(unknown)}"] if unknown else []
    return "; ".join(said + _read(counts, pairs))


def money(
    counts: Mapping[str, int],
    costs: Mapping[str, Cost],
    pairs: int | None,
    core_hour: float | None,
    million_tokens: float | None,
) -> str:
    """What that comes to at stated prices, in whatever currency they are: of an hour of one core, and of a million tokens
    that a language model reads or writes behind an endpoint. Raises SecateurError for a price below 0."""
    for name, price in (("--core-hour", core_hour), ("--million-tokens", million_tokens)):
        if price is not None and not 0 <= price < math.inf:
            raise SecateurError(f"{name} {price:g}: a price is 0 or more. Fix: {name} 0.05")
    rows, seconds, _ = estimate(counts, costs, pairs)
    tokens = sum(row.get("tokens") or 0 for row in rows)
    said = []
    if core_hour is not None:
        said.append(f"{seconds / 3600 * core_hour:.2f} for {seconds / 3600:.2f} hours of one core")
    if million_tokens is not None:
        said.append(f"{tokens / 1e6 * million_tokens:.2f} for {tokens:,} tokens, where an endpoint reads them")
    return "; ".join(said)


def _whose(counts: Mapping[str, int], costs: Mapping[str, Cost]) -> str:
    """Whose figures they are, where not all are of the data at hand."""
    have = [costs[rule].of for rule in counts if rule in costs]
    said = [
        ("" if have.count(of) == len(have) else f"{have.count(of)} of {len(have)} rules ") + f"by jobs {of}"
        for of in (ELSEWHERE, LENT)
        if of in have
    ]
    return f", {' and '.join(said)} (larger data take longer)" if said else ""


def _read(counts: Mapping[str, int], pairs: int | None) -> list[str]:
    if SCORING not in counts:
        return []
    if pairs is None:
        return [f"how many pairs of question and passage a language model reads, logs/{SCORING} will say"]
    return [f"a language model reads {pairs:,} pairs of question and passage at most"]


def pairs_to_read(
    conf: Path, found: Sequence[Variant], overrides: tuple[str, ...], counts: Mapping[str, int]
) -> int | None:
    """How many pairs of question and passage the jobs of an experiment read at most, those of all models together; None where
    that is not known before questions and passages are fetched. Of shards some of which are there already it is a share."""
    if SCORING not in counts:
        return 0
    own = [v for v in found if v["family"] == "utility" and v.study is None]
    own = list({layout.selection(v.wildcards): v for v in own}.values())
    most = [_pairs(conf, v, overrides, counts) for v in own]
    shards = sum(option(conf, "ecs", v["ecs"], overrides).shards for v in own)
    return None if None in most else math.ceil(sum(most) * counts[SCORING] / shards)


def _pairs(conf: Path, variant: Variant, overrides: tuple[str, ...], counts: Mapping[str, int]) -> int | None:
    texts = _texts(conf, variant, overrides, counts)
    if texts is None:
        return None
    questions, evidence, passages = texts
    dataset, ecs = (option(conf, group, variant.wildcards[group], overrides) for group in ("dataset", "ecs"))
    subsets = members(questions, evidence, {"types": {}, "first": dataset.first})
    scored, probed = (subsets[name or "all"] for name in (dataset.scored, dataset.probed))
    refused = pl.col("type").is_in(list(dataset.unanswerable)).fill_null(False)
    asked = questions.filter(~refused & pl.col("question_id").is_in(list(scored)))
    return pairs_at_most(asked, passages, probed, ecs.pool, ecs.pool_aware, ecs.draws)


def _texts(conf: Path, variant: Variant, overrides: tuple[str, ...], counts: Mapping[str, int]) -> Texts | None:
    """Questions, evidence and passages: of the folder that holds them, else as an earlier run prepared them."""
    corpus, dataset = (option(conf, group, variant.wildcards[group], overrides) for group in ("corpus", "dataset"))
    if corpus.folder and dataset.folder and reads_folder(corpus.format) and reads_folder(dataset.format):
        try:
            passages = load_corpus(corpus.format, {"folder": Path(corpus.folder)}).passages
            name, files = unlimited(variant.dataset)[0], {"folder": Path(dataset.folder)}
            found = load_questions(dataset.format, dataset.control_of or name, files, passages, "group")
        except SecateurError:
            return None  # the stage that reads them says what is wrong, with all of it
        found = some_questions(found, dataset.sample)
        found = first_questions(found, dataset.split, dataset.limit) if dataset.limit else found
        return found.questions, found.evidence, passages
    folder = Path(layout.folder(variant.wildcards))
    paths = {name: folder / "questions" / f"{name}.parquet" for name in ("questions", "evidence")}
    paths |= {"passages": Path(layout.passages(variant.wildcards))}
    if {"prepare_corpus", "prepare_dataset"} & set(counts) or not all(path.exists() for path in paths.values()):
        return None
    return tuple(read_table(TABLES[name], path) for name, path in paths.items())
