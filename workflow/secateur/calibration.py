"""How likely each ranked sentence is evidence: a logistic map of its score and its rank, fitted on gold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranked", "cross_fitted", "fit_calibration", "probability"]


@dataclass(frozen=True)
class Ranked:
    """One question's ranked sentences: scores, best first, and which of them are gold."""

    scores: NDArray[np.float64]
    gold: NDArray[np.bool_]


def _features(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) score and log(1 + rank): how good, and how many were better."""
    return np.stack([scores, np.log1p(np.arange(len(scores)))], 1)


def probability(scores: NDArray[np.float64], coefficients: Sequence[float]) -> NDArray[np.float64]:
    """Probability that each ranked sentence is evidence: logistic in its score and the logarithm of its rank.

    >>> probability(np.array([3.0, 2.0]), (0.0, -1.0, 0.0)).round(3).tolist()
    [0.5, 0.333]
    """
    score, rank, intercept = coefficients
    return 1 / (1 + np.exp(-(_features(scores) @ np.array([score, rank]) + intercept)))


def fit_calibration(ranked: Sequence[Ranked]) -> tuple[float, float, float]:
    """Coefficients (score, log rank, intercept) of greatest likelihood; ValueError without a gold sentence."""
    from sklearn.linear_model import LogisticRegression

    gold = np.concatenate([one.gold for one in ranked]) if ranked else np.zeros(0, bool)
    if gold.all() or not gold.any():
        raise ValueError("no ranked sentence is gold, or all are")
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(np.concatenate([_features(one.scores) for one in ranked]), gold)
    return (*map(float, model.coef_[0]), float(model.intercept_[0]))


def cross_fitted(ranked: Sequence[Ranked], folds: NDArray[np.int64]) -> list[tuple[float, float, float]]:
    """For each question the coefficients fitted on the questions of the other folds."""
    fitted = {
        fold: fit_calibration([one for one, f in zip(ranked, folds, strict=True) if f != fold])
        for fold in np.unique(folds).tolist()
    }
    return [fitted[fold] for fold in folds.tolist()]
