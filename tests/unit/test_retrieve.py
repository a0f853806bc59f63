"""Retrieval on scores that can be checked by hand: of runs, and of passages by the units they contain."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from secateur.graph.retrieval.ranking import GraphRanking, PassageUnits, passage_scores
from secateur.graph.retrieval.scores import fine_scores
from secateur.ranking.group import z_scores

PAPER = SimpleNamespace(
    top_t=3, coverage="share", w_coverage=0.1, tau_coverage=0.45, w_pairs=0.2, tau_pairs=0.55, t_pairs=0.1,
    w_distinct=0.1, tau_distinct=0.5, w_whole=0.1, tau_whole=0.55, t_whole=0.15,
)  # fmt: skip


def fine(similarity: list[list[list[float]]], cfg=PAPER, whole=()):
    """Terms for runs given as cosine matrices (queries, lines): queries are the axes."""
    nq = len(similarity[0])
    lines = np.concatenate([np.array(s, np.float64).T for s in similarity])
    sizes = [len(s[0]) for s in similarity]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return fine_scores(np.eye(nq), lines, starts, cfg, lambda: np.array(whole or [0.0] * len(similarity)))


@pytest.mark.parametrize(("coverage", "expected"), [("share", [0.5, 1.0]), ("count", [1.0, 2.0])])
def test_coverage_is_a_share_or_the_count_of_the_paper_and_a_cosine_at_the_threshold_counts(coverage, expected):
    cfg = SimpleNamespace(**vars(PAPER) | {"coverage": coverage})
    terms = fine([[[0.5, 0.0], [0.4, 0.4]], [[0.5, 0.0], [0.0, 0.46]]], cfg)
    np.testing.assert_allclose(terms["coverage"], expected)
    terms = fine([[[0.5]]], SimpleNamespace(**vars(PAPER) | {"tau_coverage": 0.5, "tau_distinct": 0.5}))
    assert terms["coverage"].tolist() == [1.0]
    assert terms["distinct"].tolist() == [0.5]


def test_whole_texts_are_not_asked_for_without_a_weight():
    cfg = SimpleNamespace(**vars(PAPER) | {"w_whole": 0})
    terms = fine_scores(np.eye(2), np.eye(2), np.array([0, 2]), cfg, lambda: pytest.fail("embedded for nothing"))
    assert terms["whole"].tolist() == [0.0]


@pytest.mark.parametrize(
    ("term", "similarity", "expected"),
    [
        ("rel_top", [[[0.9, 0.1]], [[0.4, 0.3, 0.2, 0.1]]], [0.5, 0.3]),  # of the entries there are
        ("pairs", [[[0.55, 0.55], [0.55, 0.55]]], [np.log1p(4 * 0.5 / 2)]),
        ("distinct", [[[0.9, 0.8], [0.85, 0.6]]], [(0.9 + 0.6) / np.sqrt(2)]),  # greedy: .9, then .6 and not .85
        ("distinct", [[[0.4, 0.3]]], [0]),
        ("whole", [[[0.0]], [[0.0, 0.0, 0.0, 0.0]]], [0.5 * 0.55, 0.5 * 0.55 / 2]),
    ],
)
def test_terms_are_those_that_a_hand_computes_and_fine_is_their_weighted_sum(term, similarity, expected):
    terms = fine(similarity, whole=[0.55] * len(similarity))
    np.testing.assert_allclose(terms[term], expected, rtol=1e-6)
    weights = {"rel_top": 1.0, "coverage": 0.1, "pairs": 0.2, "distinct": 0.1, "whole": 0.1}
    np.testing.assert_allclose(terms["fine"], sum(w * terms[name] for name, w in weights.items()))


OPTION = SimpleNamespace(w_bm25=0, w_dense=2.0, w_run=0.5, w_line=0, title=True, k1=0.9, b=0.4)


def test_a_sentence_has_the_best_value_of_its_units_and_the_rows_lowest_without_any():
    values = np.array([[0.1, 0.9, 0.4], [0.5, 0.2, 0.3]], np.float32)
    found = PassageUnits.of(np.array([0, 1, 2]), np.array([2, 2, 0])).best(values, 3)
    np.testing.assert_allclose(found, [[0.4, 0.1, 0.9], [0.3, 0.2, 0.5]], atol=1e-7)
    none = np.zeros(0, np.int64)
    assert PassageUnits.of(none, none).best(np.array([[0.5, 0.25]], np.float32), 3).tolist() == [[0.25] * 3]


def ranking(title: bool) -> GraphRanking:
    """Two sentences of two articles, and nothing but their words."""
    ids = ["a", "b"]
    rows = {"passage_id": ids, "doc_id": ids, "position": [0, 0], "title": ["Brown bear", "Otter"]}
    passages = pl.DataFrame(rows | {"text": ["it eats fish"] * 2, "speaker": [None] * 2})
    runs = pl.DataFrame(schema={"run_id": pl.Int32, "n": pl.Int32, "edge_id": pl.Int32, "passage_id": pl.String})
    own = {"w_bm25": 1, "w_dense": 0, "title": title, "walk": "none", "coarse": "ere"}
    return GraphRanking(SimpleNamespace(**vars(OPTION) | own), 0.0, passages, None, runs, None, None)


def test_a_title_is_a_field_of_its_sentences_only_where_asked():
    question = ["what does the otter eat"]
    with_title, came = ranking(True).scores(question, None)
    assert with_title[0, 1] > with_title[0, 0]
    assert came is None
    without, _ = ranking(False).scores(question, None)
    assert without[0, 1] == without[0, 0]


def test_signals_are_summed_as_z_scores_with_their_weights_and_only_order_aware_scores_look_at_neighbours():
    dense, run = np.array([[1.0, 2.0, 4.0]]), np.array([[3.0, 1.0, 1.0]])
    found = passage_scores(OPTION, {"bm25": np.zeros((1, 3)), "dense": dense, "run": run}, np.arange(3), 0)
    np.testing.assert_allclose(found, z_scores(2 * z_scores(dense) + 0.5 * z_scores(run)))
    scores, docs = np.array([[0.0, 0.0, 9.0, 0.0, 0.0]]), np.array([0, 0, 0, 0, 1])
    np.testing.assert_allclose(passage_scores(OPTION, {"dense": scores}, docs, 0), z_scores(scores))
    aware = passage_scores(OPTION, {"dense": scores}, docs, 0.8)[0]
    assert aware[1] > aware[0]
    assert aware[3] > aware[4]
