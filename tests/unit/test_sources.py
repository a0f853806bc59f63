"""What ranks passages besides their own words."""

from types import SimpleNamespace

import numpy as np

from secateur.graph.retrieval.passages import best_over, smoothed, source_scores
from secateur.ranking.group import z_scores

OPTION = SimpleNamespace(w_bm25=0, w_dense=2.0, w_run=0.5, w_line=0, title=True, k1=0.9, b=0.4)


def test_a_sentence_has_the_best_value_of_its_units_and_the_rows_lowest_without_any():
    values = np.array([[0.1, 0.9, 0.4], [0.5, 0.2, 0.3]], np.float32)
    found = best_over(values, np.array([0, 1, 2]), np.array([2, 2, 0]), 3)
    np.testing.assert_allclose(found, [[0.4, 0.1, 0.9], [0.3, 0.2, 0.5]], atol=1e-7)


def test_signals_are_summed_as_z_scores_with_their_weights():
    dense, run = np.array([[1.0, 2.0, 4.0]]), np.array([[3.0, 1.0, 1.0]])
    found = source_scores(OPTION, ["a", "b", "c"], ["", "", ""], ["q"], {"dense": dense, "run": run})
    np.testing.assert_allclose(found, 2 * z_scores(dense) + 0.5 * z_scores(run))


def test_a_title_is_a_field_of_its_sentences_only_where_asked():
    option = SimpleNamespace(**vars(OPTION) | {"w_bm25": 1})
    texts, titles = ["it eats fish", "it eats fish"], ["Brown bear", "Otter"]
    with_title = source_scores(option, texts, titles, ["what does the otter eat"], {})
    assert with_title[0, 1] > with_title[0, 0]
    without = source_scores(
        SimpleNamespace(**vars(option) | {"title": False}), texts, titles, ["what does the otter eat"], {}
    )
    assert without[0, 1] == without[0, 0]


def test_only_order_aware_scores_look_at_neighbours():
    scores, docs = np.array([[0.0, 0.0, 9.0, 0.0, 0.0]]), np.array([0, 0, 0, 0, 1])
    np.testing.assert_allclose(smoothed(scores, docs, 0), z_scores(scores))
    aware = smoothed(scores, docs, 0.8)[0]
    assert aware[1] > aware[0]
    assert aware[3] > aware[4]
