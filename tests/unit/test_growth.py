"""How a codebook grows: counts against brute force, and exponents of known curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.graph.growth import exponent, growth

MENTIONS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 30)), min_size=1, max_size=60)


@given(MENTIONS)
def test_the_codebook_never_shrinks_and_ends_with_every_symbol(mentions):
    symbols, places = np.array(mentions).T
    counts = growth(symbols, places, range(32))
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == len(set(symbols.tolist()))
    for read, count in enumerate(counts):
        assert count == len({s for s, p in mentions if p < read})


def test_a_graph_without_edges_has_no_symbols():
    none = np.array([], np.int32)
    assert growth(none, none, [1, 2]) == [0, 0]


def test_an_exponent_needs_two_points():
    assert exponent([5, 5], [3, 3]) is None
    assert exponent([1, 10], [0, 4]) is None
    assert exponent([1, 100], [1, 10]) == pytest.approx(0.5)
