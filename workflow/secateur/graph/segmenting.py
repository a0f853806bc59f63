"""Runs of all documents (paper 2.3)."""

import numpy as np
import polars as pl

from secateur.core.tables.vectors import Packed
from secateur.graph.codebook import line_vectors
from secateur.graph.runs import Fit, refine, segment

__all__ = ["document_runs"]


def document_runs(
    edges: pl.DataFrame, lines: Packed, edge_sources: pl.DataFrame, cfg
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(runs, run_edges): the edges of each document, or of each sentence, cut into locally coherent runs.

    cfg: with the options `order`, `embedder` and `codebook`.
    """
    edges = edges.sort("edge_id")
    vectors = line_vectors(edges, lines)
    h, t = edges["h"].to_numpy(), edges["t"].to_numpy()
    mentions = edge_sources.sort("doc_id", "position", "n")
    by = ["doc_id", "position"] if cfg.order.runs == "sentence" else ["doc_id"]
    fit = Fit(cfg.embedder.tau, cfg.codebook.bonus_path, cfg.codebook.bonus_node)
    edge_ids, cuts = mentions["edge_id"].to_numpy(), []
    for first, size in _spans(mentions, by):
        ids = edge_ids[first : first + size]
        v = vectors[ids]
        v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12)
        starts = segment(v, h[ids], t[ids], fit)
        if cfg.codebook.refine:
            starts = refine(v, h[ids], t[ids], fit, starts)
        cuts += [first + start for start in starts]
    count, lengths = len(cuts), np.diff([*cuts, len(edge_ids)])
    run_id = np.repeat(np.arange(count, dtype=np.int32), lengths)
    place = np.arange(len(run_id)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    runs = pl.DataFrame(
        {
            "run_id": np.arange(count, dtype=np.int32),
            "doc_id": mentions["doc_id"].gather(cuts),
            "channel": ["facts"] * count,
            "size": lengths.astype(np.int32),
        },
        schema={"run_id": pl.Int32, "doc_id": pl.String, "channel": pl.String, "size": pl.Int32},
    )
    run_edges = mentions.select("edge_id", "passage_id").with_columns(
        run_id=pl.Series(run_id, dtype=pl.Int32), n=pl.Series(place.astype(np.int32), dtype=pl.Int32)
    )
    return runs, run_edges


def _spans(mentions: pl.DataFrame, by: list[str]) -> list[tuple[int, int]]:
    """(first row, number of rows) of each span of consecutive mentions with equal values in `by`."""
    sizes = mentions.select(pl.struct(by).rle().struct.field("len")).to_series().to_numpy().astype(np.int64)
    return list(zip((np.cumsum(sizes) - sizes).tolist(), sizes.tolist(), strict=True))
