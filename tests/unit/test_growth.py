"""How a codebook grows: counts against brute force, and exponents of known curves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.core.tables.catalog import TABLES
from secateur.graph.growth import exponent, growth
from secateur.report.sections.growth import growth_section

MENTIONS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=1, max_size=60)


@given(MENTIONS)
def test_a_codebook_has_every_symbol_of_what_was_read(mentions):
    symbols, places = np.array(mentions).T
    counts = growth(symbols, places, range(32))
    assert counts == [len({s for s, p in mentions if p < read}) for read in range(32)]


def test_a_graph_without_edges_has_no_symbols_and_an_exponent_needs_two_points():
    none = np.array([], np.int32)
    assert growth(none, none, [1, 2]) == [0, 0]
    assert exponent([5, 5], [3, 3]) is None
    assert exponent([1, 10], [0, 4]) is None
    assert exponent([1, 100], [1, 10]) == pytest.approx(0.5)


KINDS = ("entities", "relations", "edges", "runs")


def grown(system: str, step: int) -> pl.DataFrame:
    """A graph that grows by so many symbols a passage."""
    rows = [(kind, share, read, step * read) for kind in KINDS for share, read in ((0.5, 10), (1.0, 20))]
    frame = TABLES["growth"].frame([*rows, ("bytes", 1.0, 20, 2_000_000)])
    return frame.with_columns(corpus=pl.lit("c"), system=pl.lit(system), order=pl.lit("blind"))


def test_the_report_states_counts_and_exponents_and_of_a_graph_without_edges_no_exponent():
    assert growth_section(grown("s", 4).clear()) is None
    assert growth_section(grown("s", 0)) is None
    (part,) = growth_section(pl.concat([grown("s", 4), grown("t", 0)]))["parts"]
    assert part["table"].texts() == [["c · s · blind", *["80"] * 4, "2.00"], ["c · t · blind", *["0"] * 4, "2.00"]]
    notes = [{cell.notes for cell in row.cells[1:5]} for row in part["table"].rows]
    assert notes == [{("exponent 1.000",)}, {()}]
