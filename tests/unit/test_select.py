"""Selection per channel on runs that can be followed by hand."""

import numpy as np

from secateur.contexts.channels import ACTIONS, apply_action, representatives


def at(*degrees: float) -> np.ndarray:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_an_action_keeps_every_run_or_none_or_the_member_nearest_to_the_others():
    assert apply_action("include_all", at(0, 0, 90), 0.9) == [0, 1, 2]
    assert apply_action("not_include", at(0, 0, 90), 0.9) == []
    assert apply_action("unique", at(0, 10, 20), 0.9) == [1]
    assert len(apply_action("unique", at(30, 30, 30, 30), 1.0)) == 1
    for action in ACTIONS:
        assert apply_action(action, np.zeros((0, 2), np.float32), 0.9) == []


def test_links_are_complete_so_a_chain_does_not_join_its_ends():
    chain = at(0, 20, 40, 60, 80)  # neighbours at cosine .94, ends at .17
    assert len(representatives(chain, 0.93)) > 1
    assert representatives(at(0, 180), -0.99) == [0, 1]  # opposite runs


def test_of_a_pair_the_better_run_stays_whichever_way_its_cosines_round():
    rng = np.random.default_rng(7)
    for _ in range(200):
        run = rng.normal(size=384)
        pair = np.stack([run, run + 0.1 * rng.normal(size=384)]).astype(np.float32)
        assert representatives(pair / np.linalg.norm(pair, axis=1, keepdims=True), 0.93) == [0]
