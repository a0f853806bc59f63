"""What a form writes from, of the tables: texts, counts, the edges of a graph."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.contexts.piece import Edge, Material, head_of, passage_text
from secateur.contexts.session import Symbolic, Textual, Writer
from secateur.graph.codebook import edge_lines
from secateur.models.word_pieces import Counter

__all__ = ["edges_of", "material_of", "session_material"]

Edges = tuple[dict[str, list[Edge]], frozenset[tuple[str, str]]]


def edges_of(edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame, edge_sources: pl.DataFrame) -> Edges:
    """Each passage's edges in text order, and what more than one edge reads as."""
    known, ambiguous = _named(edges, entities, relations)
    mentions = edge_sources.sort("doc_id", "position", "n").group_by("passage_id", maintain_order=True)
    return {p: [known[e] for e in own] for p, own in mentions.agg("edge_id").iter_rows()}, ambiguous


def _named(
    edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame
) -> tuple[dict[int, Edge], frozenset[tuple[str, str]]]:
    """The edges by id, and what more than one of them reads as."""
    lines = edge_lines(edges, entities, relations)
    rest = pl.concat_str("relation", "tail", separator=" ")
    twice = lines.group_by("head", rest.alias("rest")).len().filter(pl.col("len") > 1)
    rows = lines.select("edge_id", "head", "relation", "tail").iter_rows()
    return {e: Edge(e, (h, r, t)) for e, h, r, t in rows}, frozenset(twice.select("head", "rest").iter_rows())


def session_material(
    form: Mapping[str, Any],
    count: Counter,
    entities: pl.DataFrame,
    relations: pl.DataFrame,
    edges: pl.DataFrame,
) -> tuple[Writer, dict[int, Edge]]:
    """How a session's prompts are written under a form, and the edges that it writes of: none where it writes text.

    form: as an assembly has it.
    """
    kind = plugins.load("form", form["kind"])
    if not kind.SYMBOLS:
        return Textual(), {}
    known, ambiguous = _named(edges, entities, relations)
    material = Material({}, count, {}, ambiguous)
    with plugins.calling("form", kind):
        return Symbolic(kind.form(plugins.settings("form", form, "conf/assembly"), material)), known


def material_of(passages: pl.DataFrame, titles: bool, count: Counter, edges: Edges | None = None) -> Material:
    """What a form writes from; titles: whether a passage is read with its article's."""
    columns = passages.select("passage_id", "text", head_of(titles), "date")
    texts = {row[0]: passage_text(*row[1:]) for row in columns.iter_rows()}
    return Material(texts, count, *(edges or ()))
