"""Probabilities of ranked sentences, and the folds they are fitted on."""

import numpy as np
import pytest

from secateur.calibration import Ranked, cross_fitted, fit_calibration, probability
from secateur.folds import folds_of


def drawn(rng: np.random.Generator, questions: int, coefficients: tuple[float, float, float]) -> list[Ranked]:
    """Rankings whose gold is drawn with the probabilities that the coefficients give."""
    found = []
    for _ in range(questions):
        scores = np.sort(rng.normal(4, 2, size=60))[::-1]
        found.append(Ranked(scores, rng.random(60) < probability(scores, coefficients)))
    return found


def test_a_fit_finds_the_probabilities_that_drew_the_gold():
    true, rng = (0.3, -1.5, -0.8), np.random.default_rng(1)
    fitted = fit_calibration(drawn(rng, 2000, true))
    scores = np.sort(rng.normal(4, 2, size=60))[::-1]  # score and rank vary together, so coefficients may trade
    np.testing.assert_allclose(probability(scores, fitted), probability(scores, true), atol=0.02)


def test_probabilities_fall_with_rank_and_rise_with_score():
    falling = probability(np.array([5.0, 5.0, 5.0]), (0.2, -1.0, -1.0))
    assert (np.diff(falling) < 0).all()
    assert probability(np.array([6.0]), (0.2, -1.0, -1.0)) > probability(np.array([5.0]), (0.2, -1.0, -1.0))


def test_a_questions_own_gold_never_reaches_its_coefficients():
    rng, folds = np.random.default_rng(2), np.array([0, 1, 2, 0, 1, 2])
    ranked = drawn(rng, 6, (0.3, -1.5, 0.0))
    changed = [
        Ranked(one.scores, ~one.gold if fold == 0 else one.gold) for one, fold in zip(ranked, folds, strict=True)
    ]
    before, after = cross_fitted(ranked, folds), cross_fitted(changed, folds)
    assert [before[n] == after[n] for n in range(6)] == [True, False, False, True, False, False]


def test_a_fit_without_gold_is_refused():
    with pytest.raises(ValueError, match="no ranked sentence is gold"):
        fit_calibration([Ranked(np.array([2.0, 1.0]), np.array([False, False]))])


def test_the_questions_of_a_cluster_share_a_fold():
    clusters = [f"article {n % 9}" for n in range(90)]
    folds = folds_of(clusters, [f"q{n}" for n in range(90)], 5, 5)
    assert all(len({f for f, c in zip(folds, clusters, strict=True) if c == name}) == 1 for name in set(clusters))
    assert set(folds.tolist()) <= set(range(5))


def test_few_clusters_are_folds_of_questions_and_few_units_a_fold_each():
    ids = [f"q{n}" for n in range(40)]
    assert len(set(folds_of(["bears"] * 40, ids, 5, 5).tolist())) == 5
    assert folds_of(list("aabbccddee"), ids[:10], 5, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
