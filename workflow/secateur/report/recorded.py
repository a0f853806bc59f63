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

ANSWERING = "answer_questions"
ASKING = (
    "rank_passages",
    "rank_by_graph",
    "rerank_passages",
    "ask_peer",
    "assemble_contexts",
    "recall_context",
    ANSWERING,
)
PARSING = "extract_triples"
INDEXING = ("build_codebook", "build_runs", "consolidate")
PEER_COSTS = "peer_costs"  # the output in which a peer's index states its costs


def _seconds(root: Path, behind: Sequence[Record]) -> float | None:
    """Seconds for a question, from its ranking to its answer; a list's job ranks with each of its rankers."""
    seconds = sum(record["wall_seconds"] for record in behind if record["stage"] in ASKING)
    return seconds / _answered(behind) if _answered(behind) else None


def _tokens(root: Path, behind: Sequence[Record]) -> float | None:
    """Tokens that a language model reads and writes for the index; None where none is asked through an interface."""
    if (costs := _peer_costs(root, behind)) is not None:
        return float(costs.select(pl.sum_horizontal("tokens_in", "tokens_out").sum()).item())
    counts = [record["counts"] for record in behind if record["stage"] == PARSING]
    return sum(count["tokens_in"] + count["tokens_out"] for count in counts if "tokens_in" in count) or None


def _bytes(root: Path, behind: Sequence[Record]) -> float | None:
    """Bytes of the index on disk: of the graph's tables, or of a peer's folder."""
    if (costs := _peer_costs(root, behind)) is not None:
        return float(costs["bytes"].sum())
    paths = [root / path for record in behind if record["stage"] in INDEXING for path in record["outputs"].values()]
    return float(sum(path.stat().st_size for path in paths if path.exists())) or None


def _peer_costs(root: Path, behind: Sequence[Record]) -> pl.DataFrame | None:
    paths = [root / record["outputs"][PEER_COSTS] for record in behind if PEER_COSTS in record["outputs"]]
    return pl.read_parquet(paths) if paths else None


RECORDED: dict[str, Callable[[Path, Sequence[Record]], float | None]] = {
    "seconds": _seconds,
    "index_tokens": _tokens,
    "index_bytes": _bytes,
}


def recorded(
    root: Path, experiment: str, dataset: str, system: str, metric: str
) -> tuple[float, None, None, int] | None:
    """A figure of a system, without ends, of so many questions or of one index; None where it was not run here, or has no record."""
    if not (root / EXPERIMENTS / experiment / "report/run.json").exists():
        return None
    variants = settings(root, experiment)["extra.plan"]["variants"]
    rows = [row for row in variants if (row["dataset"], row["system"]) == (dataset, system)]
    behind = upstream(records(root / "results"), [file for row in rows for file in row["files"]])
    value = RECORDED[metric](root, behind)
    n = _answered(behind) if metric == "seconds" else 1
    return None if value is None else (value, None, None, n)


def _answered(behind: Sequence[Record]) -> int:
    return sum(record["metrics"]["questions"] for record in behind if record["stage"] == ANSWERING)
