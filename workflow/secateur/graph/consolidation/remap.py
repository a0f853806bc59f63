"""The quotient of a codebook by its aliases (paper 2.7): edges and sequences can only become fewer (lemma 9)."""

import polars as pl

from secateur.core.distinct import first_places

__all__ = ["remap_edges", "remap_mentions"]


def remap_edges(edges: pl.DataFrame, aliases: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(the distinct edges (m(h), r, m(t)) with dense ids anew, old edge_id -> new as columns edge_id, kept).

    A merged edge keeps the place and the line of its earliest original, so nothing is embedded anew (lemma 10).
    An edge that states an alias (its ends become one entity) stays as written: it is the text's own evidence.
    """
    to, mapped = aliases.select("entity_id", "representative_id"), edges.sort("edge_id")
    for end in ("h", "t"):
        mapped = mapped.join(to, left_on=end, right_on="entity_id", how="left", maintain_order="left")
        mapped = mapped.with_columns(pl.coalesce("representative_id", end).alias(f"m_{end}")).drop("representative_id")
    stated = pl.col("m_h") == pl.col("m_t")
    mapped = mapped.with_columns(
        pl.when(stated).then(pl.col(end)).otherwise(pl.col(f"m_{end}")).alias(end) for end in ("h", "t")
    )
    first, kept = first_places(mapped, ["h", "r", "t"])
    merged = mapped.select(edges.columns)[first].with_columns(edge_id=pl.int_range(pl.len(), dtype=pl.Int32))
    return merged, mapped.select("edge_id", kept=pl.Series(kept, dtype=pl.Int32))


def remap_mentions(mentions: pl.DataFrame, kept: pl.DataFrame, within: list[str]) -> pl.DataFrame:
    """A table of edge mentions with kept ids; a repeat inside the same `within` is dropped, order stays."""
    order = [c for c in ("run_id", "doc_id", "position", "n") if c in mentions.columns]
    named = mentions.sort(order).join(kept, on="edge_id", maintain_order="left")
    named = named.with_columns(edge_id="kept").drop("kept")
    return named.unique([*within, "edge_id"], keep="first", maintain_order=True)
