"""Triples to the id-indexed codebook, with an embedding for every symbol and every edge line."""

import numpy as np
import polars as pl

from secateur.codebook import edge_lines, indexify
from secateur.models.embedder import Embedder


def _embedded(frame: pl.DataFrame, texts: pl.Series, embedder: Embedder) -> pl.DataFrame:
    vectors = embedder.embed(texts.to_list())
    return frame.with_columns(
        embedding=pl.Series(vectors.astype(np.float32), dtype=pl.Array(pl.Float32, embedder.cfg.dim))
    )


def run(cfg, inputs, outputs, ctx):
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    book = indexify(inputs["triples"])
    lines = edge_lines(book.edges, book.entities, book.relations)["line"]
    outputs["entities"] = _embedded(book.entities, book.entities["text"], embedder)
    outputs["relations"] = _embedded(book.relations, book.relations["text"], embedder)
    outputs["edges"] = _embedded(book.edges, lines, embedder)
    outputs["edge_sources"] = book.edge_sources
    cut = embedder.truncated(lines.to_list())
    if cut:
        ctx.warn(
            f"{cut} edge lines are longer than the embedder's window of {cfg.embedder.max_tokens} tokens and were cut"
        )
    ctx.counts |= {"truncated": cut, "cache_hits": embedder.cache.hits, "cache_misses": embedder.cache.misses}
    return {"entities": book.entities.height, "relations": book.relations.height, "edges": book.edges.height}
