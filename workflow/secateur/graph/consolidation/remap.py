"""Edges and mentions after consolidation (paper 2.7), remapped to representatives.

The quotient by aliases never adds edges or lengthens sequences (lemma 9).
"""

import polars as pl

from secateur.core.distinct import first_places

__all__ = ["remap_edges", "remap_mentions"]


def remap_edges(edges: pl.DataFrame, aliases: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(distinct edges (m(h), r, m(t)) with new dense ids, new ids as columns edge_id, kept).

    A merged edge keeps the place and the line of its earliest original, so nothing is re-embedded (lemma 10). An edge
    whose two ends become one entity stays as written: it is the text's evidence for the alias.
    """
    representatives = aliases.select("entity_id", "representative_id")
    mapped = edges.sort("edge_id")
    for end in ("h", "t"):
        mapped = mapped.join(representatives, left_on=end, right_on="entity_id", how="left", maintain_order="left")
        mapped = mapped.with_columns(pl.coalesce("representative_id", end).alias(f"m_{end}")).drop("representative_id")
    states_alias = pl.col("m_h") == pl.col("m_t")
    mapped = mapped.with_columns(
        pl.when(states_alias).then(pl.col(end)).otherwise(pl.col(f"m_{end}")).alias(end) for end in ("h", "t")
    )
    first, kept = first_places(mapped, ["h", "r", "t"])
    merged = mapped.select(edges.columns)[first].with_columns(edge_id=pl.int_range(pl.len(), dtype=pl.Int32))
    return merged, mapped.select("edge_id", kept=pl.Series(kept, dtype=pl.Int32))


def remap_mentions(mentions: pl.DataFrame, kept: pl.DataFrame, within: list[str]) -> pl.DataFrame:
    """Edge mentions with new ids, in order, each edge once per value of the columns `within`."""
    order = [c for c in ("run_id", "doc_id", "position", "n") if c in mentions.columns]
    remapped = mentions.sort(order).join(kept, on="edge_id", maintain_order="left")
    remapped = remapped.with_columns(edge_id="kept").drop("kept")
    return remapped.unique([*within, "edge_id"], keep="first", maintain_order=True)
