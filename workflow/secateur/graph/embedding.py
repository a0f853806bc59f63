"""The codebook of a corpus and its embeddings."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.shards import part_of
from secateur.graph.codebook import Codebook, edge_lines, indexify
from secateur.models.embedder import Embedder

__all__ = ["codebook", "codebook_of", "with_embeddings"]

SHOWN = 5  # documents listed in a warning
PART = 50_000  # strings embedded at once: 80 MB of MiniLM vectors


def codebook_of(passages: pl.DataFrame, triples: pl.DataFrame, ctx) -> tuple[Codebook, pl.Series]:
    """(codebook of a corpus, line "head relation tail" of each edge).

    Warns of documents without a triple. Raises SecateurError if there is no triple at all.
    """
    documents = passages.select("doc_id").unique(maintain_order=True)["doc_id"]
    if triples.is_empty():
        raise SecateurError(
            f"no triple was extracted from {passages.height} passages of {len(documents)} documents. Fix: read the "
            "warnings in logs/extract_triples, or choose another extractor (`openie` reads English)."
        )
    empty = documents.filter(~documents.is_in(triples["doc_id"].unique().implode())).to_list()
    if empty:
        more = ", ..." if len(empty) > SHOWN else ""
        ctx.warn(f"{len(empty)} of {len(documents)} documents have no triple: {', '.join(empty[:SHOWN])}{more}")
    ctx.counts |= {"documents_without_triple": len(empty)}
    book = indexify(triples)
    return book, edge_lines(book.edges, book.entities, book.relations)["line"]


def with_embeddings(
    frame: pl.DataFrame, texts: pl.Series, embedder: Embedder, shard: str = ""
) -> Iterator[pl.DataFrame]:
    """The shard's rows of the frame with a column `embedding` of the texts' vectors, in parts of 50,000 rows."""
    rows = part_of(len(texts), shard)
    for start in range(rows.start, rows.stop, PART) or [rows.start]:
        chosen = slice(start, min(start + PART, rows.stop))
        vectors = embedder.embed(texts[chosen].to_list())
        embedding = pl.Series(vectors.astype(np.float32, copy=False), dtype=pl.Array(pl.Float32, embedder.cfg.dim))
        yield frame[chosen].with_columns(embedding=embedding)


def codebook(
    passages: pl.DataFrame, triples: pl.DataFrame, embedder: Embedder, ctx, shard: str = ""
) -> Iterator[tuple[str, Iterable[pl.DataFrame]]]:
    """Yield (table, its parts) of a corpus: symbols and lines with vectors, edges, where each was read.

    shard: whose rows of vectors are made; the first one also has the edges and counts what is lost. Raises SecateurError if
    there is no triple at all.
    """
    first = not shard or shard.startswith("0of")
    book, lines = codebook_of(passages, triples, ctx if first else replace(ctx, counts={}, warnings=[]))
    yield "entities", with_embeddings(book.entities, book.entities["text"], embedder, shard)
    yield "relations", with_embeddings(book.relations, book.relations["text"], embedder, shard)
    yield "lines", with_embeddings(book.edges.select("line_id"), lines, embedder, shard)
    if first:
        embedder.tell_split(lines, "edge lines", ctx)
    for name, frame in (("edges", book.edges), ("edge_sources", book.edge_sources)):
        yield name, [frame if first else frame.clear()]
