"""INDEXIFY on a corpus that can be followed by hand."""

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.graph.codebook import edge_lines, indexify

ROWS = [
    ("d2", 0, 0, "p3", "cub", "eats", "bear"),
    ("d1", 1, 0, "p2", "salmon", "swims in", "river"),
    ("d1", 0, 1, "p1", "bear", "lives by", "river"),
    ("d1", 0, 0, "p1", "bear", "eats", "salmon"),
    ("d2", 0, 1, "p3", "bear", "eats", "salmon"),
]


def triples(rows) -> pl.DataFrame:
    names = ("doc_id", "position", "n", "passage_id", "head", "relation", "tail")
    return TABLES["triples"].frame(dict(zip(names, row, strict=True)) for row in rows)


def test_counts_are_mentions_and_a_repeated_triple_is_one_edge_with_two_sources():
    book = indexify(triples(ROWS))
    assert book.entities["count"].to_list() == [4, 3, 2, 1]  # as head or tail
    assert book.relations["count"].to_list() == [3, 1, 1]
    assert book.edges.select("h", "r", "t").rows() == [(0, 0, 1), (0, 1, 2), (1, 2, 2), (3, 0, 0)]
    assert book.edge_sources.filter(pl.col("edge_id") == 0)["passage_id"].to_list() == ["p1", "p3"]
    lines = edge_lines(book.edges.reverse().head(2), book.entities, book.relations)
    assert lines["line"].to_list() == ["cub eats bear", "salmon swims in river"]  # in the order of the edges given


def test_no_triples_give_an_empty_codebook():
    empty = indexify(TABLES["triples"].empty())
    assert [f.height for f in (empty.entities, empty.relations, empty.edges, empty.edge_sources)] == [0, 0, 0, 0]
    assert edge_lines(empty.edges, empty.entities, empty.relations).height == 0
