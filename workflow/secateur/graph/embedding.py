"""Triples to the embedded codebook: what the rule `build_codebook` and a memory share."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from secateur.core.errors import SecateurError
from secateur.graph.codebook import Codebook, edge_lines, indexify
from secateur.models.embedder import Embedder

__all__ = ["codebook_of", "embedded"]

SHOWN = 5  # documents that a warning names
PART = 50_000  # strings whose vectors are held at once: 80 MB of MiniLM's


def codebook_of(passages: pl.DataFrame, triples: pl.DataFrame, ctx) -> tuple[Codebook, pl.Series]:
    """The codebook of a corpus, and the line "head relation tail" of each edge.

    Documents without a triple are counted, and a warning names some. Raises SecateurError where no document has one.
    """
    documents = passages.select("doc_id").unique(maintain_order=True)["doc_id"]
    if triples.is_empty():
        raise SecateurError(
            f"no triple was extracted from {passages.height} passages of {len(documents)} documents: a graph needs "
            "some. Fix: read the warnings in logs/extract_triples, or choose another extractor (`openie` reads English)."
        )
    silent = documents.filter(~documents.is_in(triples["doc_id"].unique().implode())).to_list()
    if silent:
        more = ", ..." if len(silent) > SHOWN else ""
        ctx.warn(f"{len(silent)} of {len(documents)} documents gave no triple: {', '.join(silent[:SHOWN])}{more}")
    ctx.counts |= {"documents_without_triple": len(silent)}
    book = indexify(triples)
    return book, edge_lines(book.edges, book.entities, book.relations)["line"]


def embedded(frame: pl.DataFrame, texts: pl.Series, embedder: Embedder) -> Iterator[pl.DataFrame]:
    """The frame with the vectors of texts, in parts of 50,000 rows."""
    for start in range(0, len(texts), PART):
        vectors = embedder.embed(texts[start : start + PART].to_list())
        embedding = pl.Series(vectors.astype(np.float32, copy=False), dtype=pl.Array(pl.Float32, embedder.cfg.dim))
        yield frame[start : start + PART].with_columns(embedding=embedding)
