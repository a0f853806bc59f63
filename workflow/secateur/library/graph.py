"""Passages to the tables of their graph, by the functions that the pipeline's rules call."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.vectors import Packed
from secateur.graph.consolidation.consolidate import aliases_of, consolidated
from secateur.graph.consolidation.prune import prune_names
from secateur.graph.embedding import codebook_of, with_embeddings
from secateur.graph.segmenting import document_runs
from secateur.graph.triples.extraction import extract, refuse_unreadable
from secateur.library.options import context
from secateur.models.embedder import Embedder
from secateur.ranking.group import texts_read
from secateur.ranking.mentions import mentions_of, triple_phrases

__all__ = ["GRAPH", "Tables", "graph_tables"]

GRAPH = ("entities", "relations", "lines", "edges", "edge_sources", "run_edges", "mentions", "aliases")
Tables = dict[str, pl.DataFrame]


def graph_tables(passages: pl.DataFrame, options: Mapping[str, Any], embedder: Embedder) -> Tables:
    """The tables `GRAPH` of passages in text order. options: by group.

    Raises SecateurError where no triple is extracted, and for a corpus in letters that the extractor does not read.
    """
    cfg, ctx = SimpleNamespace(**options), context()
    refuse_unreadable(passages, cfg.extractor)
    book, line_texts = codebook_of(passages, extract(passages, cfg.extractor, ctx), ctx)
    entities = pl.concat(with_embeddings(book.entities, book.entities["text"], embedder))
    relations = pl.concat(with_embeddings(book.relations, book.relations["text"], embedder))
    lines = pl.concat(with_embeddings(book.edges.select("line_id"), line_texts, embedder))
    _, run_edges = document_runs(book.edges, Packed.of(lines["embedding"].to_numpy()), book.edge_sources, cfg)
    aliases = aliases_of(cfg.consolidation, entities, passages, None, ctx)
    graph = consolidated(cfg.consolidation, aliases, book.edges, book.edge_sources, run_edges)
    phrases = triple_phrases(entities, graph.edges, graph.edge_sources)
    tables = {"entities": entities, "relations": relations, "lines": lines, **vars(graph)}
    read = passages.with_columns(pl.Series("text", texts_read(passages), pl.String))
    tables["mentions"] = prune_names(mentions_of(read, phrases, cfg.consolidation), read, cfg.consolidation)
    return {name: _typed(name, tables[name]) for name in GRAPH}


def _typed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A table with the column types that it would be read with."""
    empty = TABLES[name].empty()
    schema = {c: t for c, t in empty.schema.items() if not isinstance(t, pl.Array | pl.List)}
    return frame.select(empty.columns).cast({c: t for c, t in schema.items() if frame.schema[c] != t})
