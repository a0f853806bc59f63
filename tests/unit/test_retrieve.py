"""Retrieval on scores that can be checked by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from secateur.graph.retrieval.scores import Membership, fine_scores, symbol_idf

PAPER = SimpleNamespace(
    top_t=3, coverage="share", w_coverage=0.1, tau_coverage=0.45, w_pairs=0.2, tau_pairs=0.55, t_pairs=0.1,
    w_distinct=0.1, tau_distinct=0.5, w_whole=0.1, tau_whole=0.55, t_whole=0.15,
)  # fmt: skip


def members(*runs: list[int]) -> Membership:
    pairs = [(n, symbol) for n, run in enumerate(runs) for symbol in run]
    run, symbol = np.array(pairs, np.int64).T
    return Membership.of(run, symbol, len(runs))


def fine(similarity: list[list[list[float]]], cfg=PAPER, whole=()):
    """Terms for runs given as cosine matrices (queries, lines): queries are the axes."""
    nq = len(similarity[0])
    lines = np.concatenate([np.array(s, np.float64).T for s in similarity])
    sizes = [len(s[0]) for s in similarity]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return fine_scores(np.eye(nq), lines, starts, cfg, lambda: np.array(whole or [0.0] * len(similarity)))


def test_membership_drops_repeats_and_keeps_runs_in_order():
    found = members([5, 2, 5], [0], [2])
    assert found.symbols.tolist() == [2, 5, 0, 2]
    assert found.starts.tolist() == [0, 2, 3, 4]


def test_symbols_of_other_groups_do_not_change_the_idf():
    runs = members([0, 1], [0, 1])
    np.testing.assert_array_equal(symbol_idf(runs, 2), symbol_idf(runs, 50)[:2])
    assert symbol_idf(runs, 50).max() == 1


@pytest.mark.parametrize(("coverage", "expected"), [("share", [0.5, 1.0]), ("count", [1.0, 2.0])])
def test_coverage_is_a_share_or_the_count_of_the_paper_and_a_cosine_at_the_threshold_counts(coverage, expected):
    cfg = SimpleNamespace(**vars(PAPER) | {"coverage": coverage})
    terms = fine([[[0.5, 0.0], [0.4, 0.4]], [[0.5, 0.0], [0.0, 0.46]]], cfg)
    np.testing.assert_allclose(terms["coverage"], expected)
    terms = fine([[[0.5]]], SimpleNamespace(**vars(PAPER) | {"tau_coverage": 0.5, "tau_distinct": 0.5}))
    assert terms["coverage"].tolist() == [1.0]
    assert terms["distinct"].tolist() == [0.5]


def test_pairs_are_soft_counts_with_a_square_root_norm():
    terms = fine([[[0.55, 0.55], [0.55, 0.55]]])
    np.testing.assert_allclose(terms["pairs"], [np.log1p(4 * 0.5 / 2)])


def test_distinct_uses_each_query_line_and_each_candidate_line_once():
    terms = fine([[[0.9, 0.8], [0.85, 0.6]]])  # greedy: .9, then .6 and not .85
    np.testing.assert_allclose(terms["distinct"], [(0.9 + 0.6) / np.sqrt(2)])
    assert fine([[[0.4, 0.3]]])["distinct"].tolist() == [0.0]


def test_whole_chunk_is_gated_and_shrinks_with_length():
    terms = fine([[[0.0]], [[0.0, 0.0, 0.0, 0.0]]], whole=[0.55, 0.55])
    np.testing.assert_allclose(terms["whole"], [0.5 * 0.55, 0.5 * 0.55 / 2])


def test_whole_texts_are_not_asked_for_without_a_weight():
    cfg = SimpleNamespace(**vars(PAPER) | {"w_whole": 0})

    def never():
        raise AssertionError("embedded for nothing")

    terms = fine_scores(np.eye(2), np.eye(2), np.array([0, 2]), cfg, never)
    assert terms["whole"].tolist() == [0.0]


def test_fine_is_the_weighted_sum_of_the_terms_and_rel_top_averages_the_entries_there_are():
    terms = fine([[[0.9, 0.2], [0.3, 0.7]]], whole=[0.6])
    weights = {"rel_top": 1.0, "coverage": 0.1, "pairs": 0.2, "distinct": 0.1, "whole": 0.1}
    np.testing.assert_allclose(terms["fine"], sum(w * terms[name] for name, w in weights.items()))
    few = fine([[[0.9, 0.1]], [[0.4, 0.3, 0.2, 0.1]]])
    np.testing.assert_allclose(few["rel_top"], [0.5, 0.3], rtol=1e-6)
