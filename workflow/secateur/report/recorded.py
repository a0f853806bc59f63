"""Figures that stand in the records of stages and not in `metrics`: seconds for a question, tokens and bytes of an index.

They are of one machine and one run: without an interval.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from secateur.report.compare import EXPERIMENTS, settings
from secateur.stage.ledger import records
from secateur.stage.lineage import Record, upstream

__all__ = ["RECORDED", "recorded"]

ANSWERING, RECALLING = "answer_questions", "recall_context"
ASKING = ("encode_questions", "rank_passages", "rank_by_graph", "rerank_passages", "ask_peer", "assemble_contexts")
ASKING += (RECALLING, ANSWERING)
PARSING = "extract_triples"
INDEXING = ("build_codebook", "build_runs", "consolidate")
PEER_COSTS = "peer_costs"  # the output in which a peer's index states its costs


def _seconds(root: Path, behind: Sequence[Record]) -> float | None:
    """Seconds for a question from its triples to its answer: those of each stage, over the questions of that stage.

    A list's job ranks with each of its rankers, and a job loads its model. None without answers, and where a cache held some:
    in a session they were written while it was recalled.
    """
    stages = [[record for record in behind if record["stage"] == stage] for stage in ASKING]
    answers = stages[-1]
    kept = sum(record["metrics"]["questions"] - record["counts"].get("answered_anew", 0) for record in answers)
    if not answers or (kept and not stages[ASKING.index(RECALLING)]):
        return None
    asked = [(sum(r["wall_seconds"] for r in of), sum(r["metrics"]["questions"] for r in of)) for of in stages if of]
    return sum(seconds / questions for seconds, questions in asked if questions)


def _tokens(root: Path, behind: Sequence[Record]) -> float | None:
    """Tokens that a language model reads and writes for the index; None where none is asked through an interface."""
    if (costs := _peer_costs(root, behind)) is not None:
        return _whole(costs, pl.sum_horizontal("tokens_in", "tokens_out"))
    counts = [record["counts"] for record in behind if record["stage"] == PARSING]
    return sum(count["tokens_in"] + count["tokens_out"] for count in counts if "tokens_in" in count) or None


def _bytes(root: Path, behind: Sequence[Record]) -> float | None:
    """Bytes of the index on disk: of the graph's tables, or of a peer's folder; None where a table is gone."""
    if (costs := _peer_costs(root, behind)) is not None:
        return _whole(costs, pl.col("bytes"))
    paths = [root / path for record in behind if record["stage"] in INDEXING for path in record["outputs"].values()]
    return float(sum(path.stat().st_size for path in paths)) if paths and all(p.exists() for p in paths) else None


def _peer_costs(root: Path, behind: Sequence[Record]) -> pl.DataFrame | None:
    paths = [root / record["outputs"][PEER_COSTS] for record in behind if PEER_COSTS in record["outputs"]]
    return pl.read_parquet(paths) if paths else None


def _whole(costs: pl.DataFrame, amount: pl.Expr) -> float | None:
    """The sum of an amount; None for an index that failed, of which a part is left."""
    return None if costs["failure"].null_count() < costs.height else float(costs.select(amount.sum()).item())


RECORDED: dict[str, Callable[[Path, Sequence[Record]], float | None]] = {
    "seconds": _seconds,
    "index_tokens": _tokens,
    "index_bytes": _bytes,
}


def recorded(
    root: Path, experiment: str, dataset: str, system: str, metric: str
) -> tuple[float, None, None, int] | None:
    """(value, None, None, n) of a system: n questions, or 1 for an index. None where it was not run here, or has no record.

    The system's first order counts, since another order has a graph of its own.
    """
    if not (root / EXPERIMENTS / experiment / "report/run.json").exists():
        return None
    variants = settings(root, experiment)["extra.plan"]["variants"]
    rows = [row for row in variants if (row["dataset"], row["system"]) == (dataset, system)]
    first = rows[0]["files"] if rows else []
    behind = upstream(records(root / "results"), first)
    value = RECORDED[metric](root, behind)
    n = _answered(behind) if metric == "seconds" else 1
    return None if value is None else (value, None, None, n)


def _answered(behind: Sequence[Record]) -> int:
    return sum(record["metrics"]["questions"] for record in behind if record["stage"] == ANSWERING)
