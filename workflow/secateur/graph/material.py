"""Material of forms from the tables: texts, token counts, edges of a graph."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.contexts.piece import Edge, Material, head_of, passage_text
from secateur.contexts.session import Symbolic, Textual, Writer
from secateur.graph.codebook import edge_lines
from secateur.models.word_pieces import Counter

__all__ = ["material_of", "passage_edges", "session_material"]

Edges = tuple[dict[str, list[Edge]], frozenset[tuple[str, str]]]  # by passage; ambiguous (head, rest of the line)


def passage_edges(
    edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame, edge_sources: pl.DataFrame
) -> Edges:
    """(edges by passage in text order, ambiguous lines: those of several edges)."""
    by_id, ambiguous = _edges_by_id(edges, entities, relations)
    mentions = edge_sources.sort("doc_id", "position", "n").group_by("passage_id", maintain_order=True)
    return {p: [by_id[e] for e in ids] for p, ids in mentions.agg("edge_id").iter_rows()}, ambiguous


def _edges_by_id(
    edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame
) -> tuple[dict[int, Edge], frozenset[tuple[str, str]]]:
    """(edges by id, ambiguous lines)."""
    lines = edge_lines(edges, entities, relations)
    line_tail = pl.concat_str("relation", "tail", separator=" ")
    ambiguous = lines.group_by("head", line_tail.alias("rest")).len().filter(pl.col("len") > 1)
    rows = lines.select("edge_id", "head", "relation", "tail").iter_rows()
    return {e: Edge(e, (h, r, t)) for e, h, r, t in rows}, frozenset(ambiguous.select("head", "rest").iter_rows())


def session_material(
    form: Mapping[str, Any], count: Counter, entities: pl.DataFrame, relations: pl.DataFrame, edges: pl.DataFrame
) -> tuple[Writer, dict[int, Edge]]:
    """(writer of a session's prompts, edges by id); no edges for a form of text.

    form: spec of the option `assembly`.
    """
    plugin = plugins.load("form", form["kind"])
    if not plugin.SYMBOLS:
        return Textual(), {}
    by_id, ambiguous = _edges_by_id(edges, entities, relations)
    material = Material({}, count, {}, ambiguous)
    with plugins.calling("form", plugin):
        return Symbolic(plugin.form(plugins.settings("form", form, "conf/assembly"), material)), by_id


def material_of(passages: pl.DataFrame, titles: bool, count: Counter, edges: Edges | None = None) -> Material:
    """Material of a form; titles: whether a passage's text begins with the title of its article."""
    columns = passages.select("passage_id", "text", head_of(titles), "date")
    texts = {row[0]: passage_text(*row[1:]) for row in columns.iter_rows()}
    return Material(texts, count, *(edges or ()))
