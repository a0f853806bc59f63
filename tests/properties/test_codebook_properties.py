"""The codebook names every triple exactly, whatever the order of the rows."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from secateur.graph.codebook import edge_lines, indexify

quick = settings(max_examples=100)
surfaces = st.one_of(st.sampled_from(["bear", "Bear", "salmon", "is", "é", "e\u0301"]), st.text(min_size=1, max_size=4))
places = st.tuples(st.sampled_from(["d1", "d10", "d2"]), st.integers(0, 3), st.integers(0, 3))


@st.composite
def corpora(draw):
    """Triple rows at distinct places, in text order, and the same rows shuffled."""
    keys = sorted(draw(st.sets(places, min_size=1, max_size=12)))
    rows = [(d, p, n, f"{d}.{p}", *draw(st.tuples(surfaces, surfaces, surfaces))) for d, p, n in keys]
    return rows, draw(st.permutations(rows))


def frame(rows) -> pl.DataFrame:
    names = ("doc_id", "position", "n", "passage_id", "head", "relation", "tail")
    return pl.DataFrame(
        rows, schema=dict.fromkeys(names, pl.String) | {"position": pl.Int32, "n": pl.Int32}, orient="row"
    )


@quick
@given(corpora())
def test_every_triple_maps_to_the_edge_with_its_strings(corpus):
    rows, _ = corpus
    book = indexify(frame(rows))
    named = {
        e: (h, r, t)
        for e, h, r, t in edge_lines(book.edges, book.entities, book.relations)
        .select("edge_id", "head", "relation", "tail")
        .iter_rows()
    }
    found = [(*key, passage, *named[edge]) for *key, passage, edge in book.edge_sources.iter_rows()]
    assert found == rows


@quick
@given(corpora())
def test_ids_are_dense_and_by_first_appearance(corpus):
    rows, _ = corpus
    book = indexify(frame(rows))
    assert book.entities["text"].to_list() == list(dict.fromkeys(x for row in rows for x in (row[4], row[6])))
    assert book.relations["text"].to_list() == list(dict.fromkeys(row[5] for row in rows))
    for name, key in (("entities", "entity_id"), ("relations", "relation_id"), ("edges", "edge_id")):
        own = getattr(book, name)
        assert own[key].to_list() == list(range(own.height))


@quick
@given(corpora())
def test_edges_are_unique_and_none_is_invented(corpus):
    rows, _ = corpus
    book = indexify(frame(rows))
    lines = edge_lines(book.edges, book.entities, book.relations).select("head", "relation", "tail").rows()
    assert lines == list(dict.fromkeys(row[4:] for row in rows))


@quick
@given(corpora())
def test_the_order_of_the_input_rows_is_of_no_account(corpus):
    rows, shuffled = corpus
    one, other = indexify(frame(rows)), indexify(frame(shuffled))
    for name in ("entities", "relations", "edges", "edge_sources"):
        assert_frame_equal(getattr(one, name), getattr(other, name))
