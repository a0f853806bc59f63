"""Passages to the tables of their graph, by the functions that the pipeline's rules call."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.vectors import Packed, as_stored
from secateur.graph.consolidation.consolidate import consolidate
from secateur.graph.embedding import codebook
from secateur.graph.naming import mentioned
from secateur.graph.segmenting import document_runs
from secateur.graph.triples.extraction import extract, refuse_unreadable
from secateur.library.options import context
from secateur.models.embedder import Embedder

__all__ = ["GRAPH", "Tables", "graph_tables"]

GRAPH = ("entities", "relations", "lines", "edges", "edge_sources", "run_edges", "mentions", "aliases")
Tables = dict[str, pl.DataFrame]


def graph_tables(passages: pl.DataFrame, options: Mapping[str, Any], embedder: Embedder) -> Tables:
    """The tables `GRAPH` of passages in text order. options: by group.

    Raises SecateurError where no triple is extracted, and for a corpus in letters that the extractor does not read.
    """
    cfg, ctx = SimpleNamespace(**options), context()
    refuse_unreadable(passages, cfg.extractor)
    codebook_tables = codebook(passages, extract(passages, cfg.extractor, ctx), embedder, ctx)
    tables = {name: _as_stored(pl.concat(parts)) for name, parts in codebook_tables}
    lines, sources = Packed.of(tables["lines"]["embedding"].to_numpy()), tables["edge_sources"]
    _, run_edges = document_runs(tables["edges"], lines, sources, cfg)
    graph = consolidate(cfg.consolidation, passages, tables["entities"], tables["edges"], sources, run_edges, ctx)
    tables |= vars(graph)
    mentions, _ = mentioned(cfg.consolidation, passages, tables["entities"], graph.edges, graph.edge_sources)
    return {name: _typed(name, frame) for name, frame in (tables | {"mentions": mentions}).items() if name in GRAPH}


def _as_stored(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose vectors, if it has any, are rounded as its file rounds them: later stages of the pipeline read that."""
    return frame.with_columns(as_stored(frame["embedding"])) if "embedding" in frame.columns else frame


def _typed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """A table with the column types that it would be read with."""
    empty = TABLES[name].empty()
    schema = {c: t for c, t in empty.schema.items() if not isinstance(t, pl.Array | pl.List)}
    return frame.select(empty.columns).cast({c: t for c, t in schema.items() if frame.schema[c] != t})
