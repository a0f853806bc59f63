"""Runs on small sequences that can be followed by hand."""

import numpy as np
import pytest

from secateur.graph.runs import Fit, refine, segment

NO_BONUS = Fit(tau=0.7, bonus_path=0.0, bonus_node=0.0)


def at(*degrees: float) -> np.ndarray:
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


NOTHING = (np.zeros((0, 2), np.float32), ids(), ids())


def test_no_triples_have_no_runs_one_triple_is_one_and_one_exactly_at_tau_joins():
    assert segment(*NOTHING, NO_BONUS) == []
    assert refine(*NOTHING, NO_BONUS, []) == []
    assert segment(at(10), ids(0), ids(1), NO_BONUS) == [0]
    assert refine(at(10), ids(0), ids(1), NO_BONUS, [0]) == [0]
    east_and_north = np.eye(2, dtype=np.float32)
    assert segment(east_and_north, ids(0, 2), ids(1, 3), Fit(0.0, 0.0, 0.0)) == [0]


@pytest.mark.parametrize(
    ("tau", "heads", "tails", "joins"),
    [
        pytest.param(0.545, (0, 1), (1, 2), True, id="path bonus: new head is the previous tail"),
        pytest.param(0.545, (0, 0), (1, 2), False, id="shared head earns the smaller bonus"),
        pytest.param(0.545, (0, 2), (1, 1), False, id="shared tail earns the smaller bonus"),
        pytest.param(0.545, (0, 2), (1, 3), False, id="no path bonus: nothing shared"),
        pytest.param(0.525, (0, 0), (1, 2), True, id="node bonus: head occurred as head"),
        pytest.param(0.525, (0, 2), (1, 0), True, id="node bonus: tail occurred as head"),
        pytest.param(0.525, (0, 2), (1, 1), True, id="node bonus: tail occurred as tail"),
        pytest.param(0.525, (0, 2), (1, 3), False, id="no node bonus: nothing shared"),
    ],
)
def test_path_bonus_is_for_continuing_the_path_only_and_node_bonus_for_any_node_of_the_run(tau, heads, tails, joins):
    vectors = at(0, 60)  # cosine .5
    fit = Fit(tau=tau, bonus_path=0.05, bonus_node=0.03)
    assert segment(vectors, ids(*heads), ids(*tails), fit) == ([0] if joins else [0, 1])


def test_nodes_of_the_whole_run_are_remembered_and_those_of_an_earlier_run_earn_no_bonus():
    assert segment(at(0, 0, 60), ids(0, 2, 0), ids(1, 3, 5), Fit(tau=0.525, bonus_path=0.0, bonus_node=0.03)) == [0]
    vectors = at(0, 90, 150)  # a cut before 90; 150 is cosine .5 from 90
    fit = Fit(tau=0.52, bonus_path=0.0, bonus_node=0.03)
    assert segment(vectors, ids(0, 2, 0), ids(1, 3, 5), fit) == [0, 1, 2]
    assert segment(vectors, ids(0, 2, 2), ids(1, 3, 5), fit) == [0, 1]
