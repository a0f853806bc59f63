"""Packed keys find the same distinct rows as a comparison of whole rows."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from secateur.core.distinct import all_distinct, first_places

quick = settings(max_examples=80)
SMALL, WIDE = st.integers(0, 5), st.sampled_from([-1, 0, 1, 2**31 - 1])  # three wide ones do not fit 63 bits


@st.composite
def frames(draw):
    value = draw(st.sampled_from([SMALL, WIDE, st.none() | SMALL, st.sampled_from(["a", "b", "c"])]))
    rows = draw(st.lists(st.tuples(value, value, value), max_size=30))
    dtype = pl.String if rows and any(isinstance(x, str) for row in rows for x in row) else pl.Int32
    return pl.DataFrame(rows, schema=dict.fromkeys("hrt", dtype), orient="row")


@quick
@given(frame=frames(), columns=st.sampled_from([["h"], ["h", "r"], ["h", "r", "t"]]))
def test_rows_are_distinct_as_tuples_are(frame, columns):
    for one in (
        frame,
        frame.sort(columns),
        frame.unique(columns).sort(columns),
        frame.unique(columns).sort(columns)[::-1],
    ):
        rows = one.select(columns).rows()
        assert all_distinct(one, columns) == (len(set(rows)) == len(rows))


@quick
@given(frame=frames())
def test_first_places_are_those_of_first_appearance_and_each_row_finds_its_own(frame):
    rows = frame.rows()
    seen = {row: n for n, row in reversed(list(enumerate(rows)))}
    first, place = first_places(frame, ["h", "r", "t"])
    assert first.tolist() == sorted(seen.values())
    assert [rows[first[n]] for n in place] == rows
