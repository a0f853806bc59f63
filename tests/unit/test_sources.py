"""Scores of passages: the units they contain, weighted signals, titles and neighbours."""

from types import SimpleNamespace

import numpy as np
import polars as pl

from secateur.graph.retrieval.ranking import GraphRanking, PassageUnits, passage_scores
from secateur.ranking.group import z_scores

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
