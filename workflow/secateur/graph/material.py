"""What a form writes from, of the tables: texts, counts, the edges of a graph."""

import polars as pl

from secateur.contexts.piece import Edge, Material, head_of, passage_text
from secateur.graph.codebook import edge_lines
from secateur.models.word_pieces import Counter

__all__ = ["edges_of", "material_of"]

Edges = tuple[dict[str, list[Edge]], frozenset[tuple[str, str]]]


def edges_of(edges: pl.DataFrame, entities: pl.DataFrame, relations: pl.DataFrame, edge_sources: pl.DataFrame) -> Edges:
    """Each passage's edges in text order, and what more than one edge reads as."""
    lines = edge_lines(edges, entities, relations)
    rest = pl.concat_str("relation", "tail", separator=" ")
    twice = lines.group_by("head", rest.alias("rest")).len().filter(pl.col("len") > 1)
    triples = {edge: (h, r, t) for edge, h, r, t in lines.select("edge_id", "head", "relation", "tail").iter_rows()}
    mentions = edge_sources.sort("doc_id", "position", "n").group_by("passage_id", maintain_order=True)
    found = {p: [Edge(e, triples[e]) for e in own] for p, own in mentions.agg("edge_id").iter_rows()}
    return found, frozenset(twice.select("head", "rest").iter_rows())


def material_of(passages: pl.DataFrame, titles: bool, count: Counter, edges: Edges | None = None) -> Material:
    """What a form writes from; titles: whether a passage is read with its article's."""
    columns = passages.select("passage_id", "text", head_of(titles), "date")
    texts = {row[0]: passage_text(*row[1:]) for row in columns.iter_rows()}
    return Material(texts, count, *(edges or ()))
