"""What an experiment will cost, said before it runs: by what its rules have taken, and by what its texts make a model read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from secateur.datasets.loaders import load_corpus, load_questions, reads_folder
from secateur.datasets.schema import first_questions, some_questions
from secateur.ecs.selection.foreseen import pairs_at_most
from secateur.evaluation.subsets import members
from secateur.pipeline import layout
from secateur.pipeline.config.compose import option
from secateur.pipeline.config.limits import unlimited
from secateur.pipeline.errors import SecateurError
from secateur.pipeline.plan import Variant, of_folder, variants
from secateur.pipeline.tables.catalog import TABLES
from secateur.pipeline.tables.table import read_table

__all__ = ["Cost", "estimate", "foretold", "pairs_to_read", "taken"]

SCORING = "score_candidates"  # the rule in which a language model reads pairs of question and passage
Texts = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]  # questions, evidence, passages


@dataclass(frozen=True)
class Cost:
    """What a job of a rule takes, the median of earlier ones, whatever data they were of. pair: of SCORING, for each pair."""

    seconds: float
    pair: float | None = None


def taken(ledger: Path) -> dict[str, Cost]:
    """The CPU seconds of each rule that has succeeded on this machine; ledger: the table job_runs."""
    if not ledger.exists():
        return {}
    seconds, read = (
        pl.col("record").str.json_path_match(path).cast(pl.Float64) for path in ("$.cpu_seconds", "$.metrics.pairs")
    )
    done = read_table(TABLES["job_runs"], ledger).filter(~pl.col("failed"))
    rows = done.group_by("stage").agg(
        seconds.median().alias("s"), (seconds / read).filter(read > 0).median().alias("p")
    )
    return {stage: Cost(s, pair) for stage, s, pair in rows.select("stage", "s", "p").iter_rows()}


def estimate(
    counts: Mapping[str, int], costs: Mapping[str, Cost], pairs: int | None = None
) -> tuple[list[dict], float, list[str]]:
    """(a row a rule, CPU seconds of those with a record, rules without one). pairs: that a language model will read."""
    rows = []
    for rule, count in counts.items():
        cost = costs.get(rule)
        whole = cost and (pairs * cost.pair if rule == SCORING and pairs and cost.pair else cost.seconds * count)
        rows.append({"rule": rule, "jobs": count, "CPU s each": whole and whole / count, "CPU s": whole})
    return rows, sum(row["CPU s"] or 0 for row in rows), [rule for rule in counts if rule not in costs]


def foretold(counts: Mapping[str, int], costs: Mapping[str, Cost], pairs: int | None, cores: int) -> str:
    """One line on what is to come."""
    _, seconds, unknown = estimate(counts, costs, pairs)
    time = f"about {seconds / 60:.1f} minutes of one core, {seconds / 60 / cores:.1f} on {cores} at best"
    said = [f"{sum(counts.values())} jobs to run"]
    said += [time] if len(unknown) < len(counts) else []
    said += [f"without an earlier record, not counted: {', '.join(unknown)}"] if unknown else []
    return "; ".join(said + _read(counts, pairs))


def _read(counts: Mapping[str, int], pairs: int | None) -> list[str]:
    if SCORING not in counts:
        return []
    if pairs is None:
        return [f"how many pairs of question and passage a language model reads, logs/{SCORING} will say"]
    return [f"a language model reads {pairs:,} pairs of question and passage at most"]


def pairs_to_read(
    conf: Path, experiment: str, overrides: Sequence[str], data: Path | None, counts: Mapping[str, int]
) -> int | None:
    """How many pairs of question and passage the jobs read at most, those of all models together; None where that is not
    known before questions and passages are fetched. Of shards some of which are there already it is a share."""
    if SCORING not in counts:
        return 0
    mine = (*overrides, *of_folder(data))
    own = [v for v in variants(conf, experiment, mine) if v["family"] == "utility" and v.study is None]
    own = list({layout.selection(v.wildcards): v for v in own}.values())
    found = [_pairs(conf, v, mine, counts) for v in own]
    shards = sum(option(conf, "ecs", v["ecs"], mine).shards for v in own)
    return None if None in found else math.ceil(sum(found) * counts[SCORING] / shards)


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
