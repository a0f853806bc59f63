"""Triples to the id-indexed codebook, with an embedding for every symbol and every edge line."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from secateur.core.errors import SecateurError
from secateur.graph.codebook import edge_lines, indexify
from secateur.models.embedder import Embedder
from secateur.stage.contract import main

SHOWN = 5  # documents that a warning names
PART = 50_000  # strings whose vectors are held at once: 80 MB of MiniLM's


def _embedded(frame: pl.DataFrame, texts: pl.Series, embedder: Embedder) -> Iterator[pl.DataFrame]:
    """The frame with the vectors of texts, in parts."""
    for start in range(0, len(texts), PART):
        vectors = embedder.embed(texts[start : start + PART].to_list())
        embedding = pl.Series(vectors.astype(np.float32, copy=False), dtype=pl.Array(pl.Float32, embedder.cfg.dim))
        yield frame[start : start + PART].with_columns(embedding=embedding)


def _silent(passages: pl.DataFrame, triples: pl.DataFrame, ctx) -> int:
    """How many documents have no triple, with a warning that names some.

    Raises SecateurError where no document has one: there is no graph to build.
    """
    documents = passages.select("doc_id").unique(maintain_order=True)["doc_id"]
    if triples.is_empty():
        raise SecateurError(
            f"no triple was extracted from the {passages.height} passages of {len(documents)} documents, so there is no "
            "graph to build. Fix: look at the warnings of extract_triples (logs/extract_triples), or take another "
            "extractor; texts that are no English sentences give `openie` nothing."
        )
    silent = documents.filter(~documents.is_in(triples["doc_id"].unique().implode())).to_list()
    if silent:
        more = ", ..." if len(silent) > SHOWN else ""
        ctx.warn(f"{len(silent)} of {len(documents)} documents gave no triple: {', '.join(silent[:SHOWN])}{more}")
    return len(silent)


def run(cfg, inputs, outputs, ctx):
    embedder = Embedder(cfg.embedder, ctx.cache, ctx.log)
    triples = inputs["triples"]
    silent, book = _silent(inputs["passages"], triples, ctx), indexify(triples)
    del triples
    texts = edge_lines(book.edges, book.entities, book.relations)["line"]
    outputs.in_parts("entities", _embedded(book.entities, book.entities["text"], embedder))
    outputs.in_parts("relations", _embedded(book.relations, book.relations["text"], embedder))
    outputs.in_parts("lines", _embedded(book.edges.select("line_id"), texts, embedder))
    outputs["edges"], outputs["edge_sources"] = book.edges, book.edge_sources
    embedder.tell_split(texts, "edge lines", ctx)
    ctx.counts |= {"documents_without_triple": silent}
    ctx.counts |= {"cache_hits": embedder.cache.hits, "cache_misses": embedder.cache.misses}
    return {"entities": book.entities.height, "relations": book.relations.height, "edges": book.edges.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
