"""Probabilities of ranked sentences, and the folds they are fitted on."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.folds import folds_of
from secateur.ranking.calibration import (
    Ranked,
    cross_fitted,
    fit_calibration,
    probabilities,
    probability,
    soft_rank,
)

WIDTH = 0.5


def drawn(rng: np.random.Generator, questions: int, coefficients: tuple[float, float]) -> list[Ranked]:
    """Rankings whose gold is drawn with the probabilities that the coefficients give."""
    found = []
    for _ in range(questions):
        scores = np.sort(rng.normal(4, 2, size=60))[::-1]
        found.append(Ranked(scores, rng.random(60) < probability(scores, coefficients, WIDTH)))
    return found


def test_a_fit_finds_the_coefficients_that_drew_the_gold():
    true = (-1.6, 0.4)
    assert fit_calibration(drawn(np.random.default_rng(1), 1000, true), WIDTH) == pytest.approx(true, abs=0.1)


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=30, unique=True))
def test_a_small_width_gives_the_rank(scores):
    scores = np.round(np.array(scores), 3)
    better = (scores[None, :] > scores[:, None]).sum(1) + ((scores[None, :] == scores[:, None]).sum(1) - 1) / 2
    np.testing.assert_allclose(soft_rank(scores, 1e-5), better, atol=1e-6)


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=30), st.floats(0.01, 5))
def test_better_scores_are_never_less_likely_and_equal_ones_are_equally_so(scores, width):
    scores = np.sort(np.array(scores))[::-1]
    p = probability(scores, (-1.6, 0.4), width)
    assert (np.diff(p) <= 1e-12).all()
    np.testing.assert_allclose(
        probability(np.array([3.0, 3.0]), (-1.6, 0.4), width), probability(np.array([7.0, 7.0]), (-1.6, 0.4), width)
    )


def test_a_questions_own_gold_never_reaches_its_coefficients():
    rng, folds = np.random.default_rng(2), np.array([0, 1, 2, 0, 1, 2])
    ranked = drawn(rng, 6, (-1.5, 0.5))
    changed = [
        Ranked(one.scores, ~one.gold if fold == 0 else one.gold) for one, fold in zip(ranked, folds, strict=True)
    ]
    before, after = cross_fitted(ranked, folds, WIDTH), cross_fitted(changed, folds, WIDTH)
    assert [before[n] == after[n] for n in range(6)] == [True, False, False, True, False, False]


def test_a_fit_without_gold_is_refused():
    with pytest.raises(ValueError, match="no ranked sentence is gold"):
        fit_calibration([Ranked(np.array([2.0, 1.0]), np.array([False, False]))], WIDTH)


# --- rankings ----------------------------------------------------------------------------------------

SETTINGS = SimpleNamespace(calibration={"blind": (-1.0, 0.5), "aware": (-2.0, 1.0)}, rank_width=WIDTH)
RESAMPLING = SimpleNamespace(min_clusters=5, folds=2)


def rankings(*scorers: str, questions: int = 6) -> pl.DataFrame:
    """Three passages for each question and scorer, of which the first is gold."""
    rows = [
        (f"q{q}", scorer, n, f"q{q}.{n}", None, 3.0 - n, False)
        for scorer in scorers
        for q in range(questions)
        for n in range(3)
    ]
    return pl.DataFrame(rows, schema=TABLES["rankings"].empty().schema, orient="row")


ASKED = pl.DataFrame({"question_id": [f"q{n}" for n in range(6)], "cluster_id": [f"c{n}" for n in range(6)]})


def likely(table: pl.DataFrame, order: str, evidence=None) -> dict[str, list[float]]:
    """scorer -> the probabilities of q0's passages."""
    found = probabilities(table, SETTINGS, order, ASKED, evidence, RESAMPLING, "d")
    assert found.columns == [*table.columns, "p"]
    own = found.filter(question_id="q0").sort("rank")
    return {scorer: own.filter(scorer=scorer)["p"].to_list() for scorer in table["scorer"].unique(maintain_order=True)}


def test_each_order_has_a_map_of_its_own():
    blind, aware = (likely(rankings("graph"), order)["graph"] for order in ("blind", "aware"))
    values = np.array([3.0, 2.0, 1.0])
    np.testing.assert_allclose(blind, probability(values, (-1.0, 0.5), WIDTH))
    np.testing.assert_allclose(aware, probability(values, (-2.0, 1.0), WIDTH))


def test_an_order_without_a_map_is_refused():
    with pytest.raises(SecateurError, match=r"d: assembly\.form\.calibration has no map for order sideways"):
        likely(rankings("graph"), "sideways")


def test_a_map_that_is_fitted_is_fitted_for_each_scorer_on_its_own_gold():
    gold = pl.DataFrame({"question_id": ASKED["question_id"], "passage_id": [f"q{n}.{n % 2}" for n in range(6)]})
    found = likely(rankings("a", "b"), "blind", gold)
    assert found["a"] == found["b"]
    assert found["a"] != likely(rankings("a"), "blind")["a"]


def test_gold_that_cannot_be_fitted_says_what_to_do():
    none = pl.DataFrame({"question_id": ["q0"], "passage_id": [None]}, schema_overrides={"passage_id": pl.String})
    with pytest.raises(
        SecateurError, match=r"d: dataset\.crossfit is true, but no ranked .*Fix: dataset\.crossfit=false"
    ):
        likely(rankings("a"), "blind", none)


# --- folds -------------------------------------------------------------------------------------------


def test_the_questions_of_a_cluster_share_a_fold():
    clusters = [f"article {n % 9}" for n in range(90)]
    folds = folds_of(clusters, [f"q{n}" for n in range(90)], 5, 5)
    assert all(len({f for f, c in zip(folds, clusters, strict=True) if c == name}) == 1 for name in set(clusters))
    assert set(folds.tolist()) <= set(range(5))


def test_few_clusters_are_folds_of_questions_and_few_units_a_fold_each():
    ids = [f"q{n}" for n in range(40)]
    assert len(set(folds_of(["bears"] * 40, ids, 5, 5).tolist())) == 5
    assert folds_of(list("aabbccddee"), ids[:10], 5, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
