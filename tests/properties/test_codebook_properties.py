"""The codebook names every triple exactly, whatever the order of the rows; packed keys find the distinct ones."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from secateur.core.distinct import all_distinct, first_places
from secateur.graph.codebook import edge_lines, indexify

surfaces = st.one_of(st.sampled_from(["bear", "Bear", "salmon", "is", "é", "e\u0301"]), st.text(min_size=1, max_size=4))
places = st.tuples(st.sampled_from(["d1", "d10", "d2"]), st.integers(0, 3), st.integers(0, 3))


@st.composite
def corpora(draw):
    """Triple rows at distinct places, in text order, and the same rows shuffled."""
    keys = sorted(draw(st.sets(places, min_size=1, max_size=12)))
    rows = [(d, p, n, f"{d}.{p}", *draw(st.tuples(surfaces, surfaces, surfaces))) for d, p, n in keys]
    return rows, draw(st.permutations(rows))


def indexed(rows):
    """The codebook of these rows, and (head, relation, tail) of its edges."""
    names = ("doc_id", "position", "n", "passage_id", "head", "relation", "tail")
    types = dict.fromkeys(names, pl.String) | {"position": pl.Int32, "n": pl.Int32}
    book = indexify(pl.DataFrame(rows, types, orient="row"))
    lines = edge_lines(book.edges, book.entities, book.relations).sort("edge_id")
    return book, lines.select("head", "relation", "tail").rows()


@given(corpora())
def test_every_triple_maps_to_the_edge_with_its_strings(corpus):
    rows, _ = corpus
    book, lines = indexed(rows)
    found = [(*key, passage, *lines[edge]) for *key, passage, edge in book.edge_sources.iter_rows()]
    assert found == rows


@given(corpora())
def test_ids_are_dense_and_by_first_appearance_and_no_edge_is_invented(corpus):
    rows, _ = corpus
    book, lines = indexed(rows)
    assert lines == list(dict.fromkeys(row[4:] for row in rows))
    assert book.entities["text"].to_list() == list(dict.fromkeys(x for row in rows for x in (row[4], row[6])))
    assert book.relations["text"].to_list() == list(dict.fromkeys(row[5] for row in rows))
    for name, key in (("entities", "entity_id"), ("relations", "relation_id"), ("edges", "edge_id")):
        own = getattr(book, name)
        assert own[key].to_list() == list(range(own.height))


@given(corpora())
def test_the_order_of_the_input_rows_is_of_no_account(corpus):
    one, other = (indexed(rows)[0] for rows in corpus)
    for name in ("entities", "relations", "edges", "edge_sources"):
        assert_frame_equal(getattr(one, name), getattr(other, name))


SMALL, WIDE = st.integers(0, 5), st.sampled_from([-1, 0, 1, 2**31 - 1])  # three wide ones do not fit 63 bits


@st.composite
def frames(draw):
    value = draw(st.sampled_from([SMALL, WIDE, st.none() | SMALL, st.sampled_from(["a", "b", "c"])]))
    rows = draw(st.lists(st.tuples(value, value, value), max_size=30))
    dtype = pl.String if rows and any(isinstance(x, str) for row in rows for x in row) else pl.Int32
    return pl.DataFrame(rows, schema=dict.fromkeys("hrt", dtype), orient="row")


@given(frame=frames(), columns=st.sampled_from([["h"], ["h", "r"], ["h", "r", "t"]]))
def test_rows_are_distinct_as_tuples_are(frame, columns):
    once = frame.unique(columns).sort(columns)
    for one in (frame, frame.sort(columns), once, once[::-1]):
        rows = one.select(columns).rows()
        assert all_distinct(one, columns) == (len(set(rows)) == len(rows))


@given(frame=frames())
def test_first_places_are_those_of_first_appearance_and_each_row_finds_its_own(frame):
    rows = frame.rows()
    seen = {row: n for n, row in reversed(list(enumerate(rows)))}
    first, place = first_places(frame, ["h", "r", "t"])
    assert first.tolist() == sorted(seen.values())
    assert [rows[first[n]] for n in place] == rows
