"""Runs on small sequences that can be followed by hand."""

import numpy as np

from secateur.graph.runs import Fit, refine, segment

NO_BONUS = Fit(tau=0.7, bonus_path=0.0, bonus_node=0.0)
EAST, NORTH = (1.0, 0.0), (0.0, 1.0)


def at(*degrees: float) -> np.ndarray:
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


NOTHING = (np.zeros((0, 2), np.float32), ids(), ids())


def test_no_triples_have_no_runs():
    assert segment(*NOTHING, NO_BONUS) == []


def test_no_triples_have_no_runs_after_refinement():
    assert refine(*NOTHING, NO_BONUS, []) == []


def test_one_triple_is_one_run():
    assert segment(at(10), ids(0), ids(1), NO_BONUS) == [0]
    assert refine(at(10), ids(0), ids(1), NO_BONUS, [0]) == [0]


def test_a_run_ends_where_the_cosine_to_its_centroid_falls_below_tau():
    vectors = at(0, 20, 90, 100)
    assert segment(vectors, ids(0, 2, 4, 6), ids(1, 3, 5, 7), NO_BONUS) == [0, 2]


def test_a_triple_exactly_at_tau_joins():
    vectors = np.array([EAST, NORTH], np.float32)
    assert segment(vectors, ids(0, 2), ids(1, 3), Fit(0.0, 0.0, 0.0)) == [0]
