"""Pruning of edges (paper 2.7): what goes is kept as a tombstone."""

import polars as pl

__all__ = ["prune_rare"]


def prune_rare(
    edges: pl.DataFrame, sources: pl.DataFrame, min_mentions: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(edges mentioned at least `min_mentions` times with dense ids anew, old edge_id -> new as columns edge_id, kept,
    tombstones of the others). sources: one row for each mention."""
    counted = edges.join(sources.group_by("edge_id").len("count"), on="edge_id", how="left", maintain_order="left")
    counted = counted.with_columns(pl.col("count").fill_null(0).cast(pl.Int32))
    rare = pl.col("count") < min_mentions
    stay = counted.filter(~rare)
    kept = stay.select("edge_id", kept=pl.int_range(pl.len(), dtype=pl.Int32))
    gone = counted.filter(rare).select("edge_id", "h", "r", "t", "count", reason=pl.lit("frequency"))
    return stay.select(edges.columns).with_columns(edge_id=kept["kept"]), kept, gone
