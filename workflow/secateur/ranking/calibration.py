"""How likely each ranked sentence is evidence: a logistic map of its soft rank, fitted on gold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranked", "cross_fitted", "fit_calibration", "probability", "soft_rank"]

Coefficients = tuple[float, float]  # of log(1 + soft rank), and the intercept


@dataclass(frozen=True)
class Ranked:
    """One question's ranked sentences: scores, and which of them are gold."""

    scores: NDArray[np.float64]
    gold: NDArray[np.bool_]


def soft_rank(scores: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """(n,) how many sentences are better, each counted by a logistic of the difference in scores.

    With a small width it is the rank from 0; equal scores have equal soft ranks, so near ties stay near ties.

    >>> soft_rank(np.array([9.0, 5.0, 5.0]), 0.1).round(3).tolist()
    [0.0, 1.5, 1.5]
    """
    behind = np.clip((scores[None, :] - scores[:, None]) / width, -50, 50)
    return (1 / (1 + np.exp(-behind))).sum(1) - 0.5  # less itself


def probability(scores: NDArray[np.float64], coefficients: Coefficients, width: float) -> NDArray[np.float64]:
    """(n,) probability that each ranked sentence is evidence."""
    slope, intercept = coefficients
    return 1 / (1 + np.exp(-(slope * np.log1p(soft_rank(scores, width)) + intercept)))


def fit_calibration(ranked: Sequence[Ranked], width: float) -> Coefficients:
    """Coefficients of greatest likelihood; ValueError where no ranked sentence is gold, or all are."""
    from sklearn.linear_model import LogisticRegression

    gold = np.concatenate([one.gold for one in ranked]) if ranked else np.zeros(0, bool)
    if gold.all() or not gold.any():
        raise ValueError("no ranked sentence is gold, or all are")
    features = np.concatenate([np.log1p(soft_rank(one.scores, width)) for one in ranked])
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(features[:, None], gold)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def cross_fitted(ranked: Sequence[Ranked], folds: NDArray[np.int64], width: float) -> list[Coefficients]:
    """For each question the coefficients fitted on the questions of the other folds."""
    fitted = {
        fold: fit_calibration([one for one, f in zip(ranked, folds, strict=True) if f != fold], width)
        for fold in np.unique(folds).tolist()
    }
    return [fitted[fold] for fold in folds.tolist()]
