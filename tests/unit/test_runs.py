"""Runs on small sequences that can be followed by hand: where they begin, and which of them a channel shows."""

import numpy as np
import pytest

from secateur.contexts.channels import ACTIONS, apply_action, representatives
from secateur.graph.runs import Fit, refine, segment

NO_BONUS = Fit(tau=0.7, bonus_path=0.0, bonus_node=0.0)


def at(*degrees: float) -> np.ndarray:
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


NOTHING = (np.zeros((0, 2), np.float32), ids(), ids())


def test_no_triples_have_no_runs_and_one_triple_is_one():
    assert segment(*NOTHING, NO_BONUS) == refine(*NOTHING, NO_BONUS, []) == []
    assert segment(at(10), ids(0), ids(1), NO_BONUS) == refine(at(10), ids(0), ids(1), NO_BONUS, [0]) == [0]


@pytest.mark.parametrize(
    ("tau", "heads", "tails", "joins"),
    [
        pytest.param(0.545, (0, 1), (1, 2), True, id="path bonus: new head is the previous tail"),
        pytest.param(0.545, (0, 0), (1, 2), False, id="shared head earns the smaller bonus"),
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


def test_an_action_keeps_every_run_or_none_or_the_member_nearest_to_the_others():
    assert apply_action("include_all", at(0, 0, 90), 0.9) == [0, 1, 2]
    assert apply_action("not_include", at(0, 0, 90), 0.9) == []
    assert apply_action("unique", at(0, 10, 20), 0.9) == [1]
    assert len(apply_action("unique", at(30, 30, 30, 30), 1.0)) == 1
    assert [apply_action(action, np.zeros((0, 2), np.float32), 0.9) for action in ACTIONS] == [[]] * len(ACTIONS)


def test_opposite_runs_are_two():
    assert representatives(at(0, 180), -0.99) == [0, 1]


def test_of_a_pair_the_better_run_stays_whichever_way_its_cosines_round():
    rng = np.random.default_rng(7)
    for _ in range(200):
        run = rng.normal(size=384)
        pair = np.stack([run, run + 0.1 * rng.normal(size=384)]).astype(np.float32)
        assert representatives(pair / np.linalg.norm(pair, axis=1, keepdims=True), 0.93) == [0]
