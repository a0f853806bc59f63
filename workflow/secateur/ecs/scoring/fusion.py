"""Joined scores: sums of z-scores, weights fitted on other conversations, and distilled answer-aware labels.

z-scores are over a question's candidates, so that features of any scale add up and all questions weigh the same.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["cross_fitted", "fit_ranking", "fit_values", "ranking_loss", "standardised"]

EPS = 1e-9  # keeps a constant feature's z-scores finite
RIDGE = 1e-3  # keeps the weights of collinear features finite

Features = NDArray[np.float64]  # (candidates, features)
Starts = NDArray[np.int64]  # (questions,) first row of each question


def standardised(features: Features, starts: Starts) -> Features:
    """z-scores of each column within each question's rows; 0 where a column is constant there."""
    counts = np.diff(np.append(starts, len(features)))[:, None]
    mean = np.add.reduceat(features, starts) / counts
    centred = features - np.repeat(mean, counts[:, 0], axis=0)
    deviation = np.sqrt(np.add.reduceat(centred**2, starts) / counts)
    return centred / (np.repeat(deviation, counts[:, 0], axis=0) + EPS)


def ranking_loss(
    w: NDArray[np.float64], z: Features, gold: NDArray[np.bool_], starts: Starts
) -> tuple[float, NDArray[np.float64]]:
    """Mean negative log-likelihood of a question's gold candidates under softmax(z w), plus a ridge; and its gradient.

    Questions without a gold candidate are left out. w: (features,).
    """
    counts = np.diff(np.append(starts, len(z)))
    hits = np.add.reduceat(gold.astype(float), starts)
    has_gold = hits > 0
    target = gold / np.repeat(np.where(has_gold, hits, 1), counts)  # every question weighs the same
    score = z @ w
    top = np.maximum.reduceat(score, starts)
    weight = np.exp(score - np.repeat(top, counts))
    total = np.add.reduceat(weight, starts)
    likelihood = (target * score).sum() - (np.log(total) + top)[has_gold].sum()
    expected = weight / np.repeat(total, counts) * np.repeat(has_gold, counts)
    gradient = z.T @ (target - expected)
    return -likelihood / has_gold.sum() + RIDGE * w @ w, -gradient / has_gold.sum() + 2 * RIDGE * w


def fit_ranking(z: Features, gold: NDArray[np.bool_], starts: Starts) -> NDArray[np.float64]:
    """(features,) weights that minimise `ranking_loss`. Raises ValueError if no question has a gold candidate."""
    if not gold.any():
        raise ValueError("no question has a gold candidate")
    return minimize(ranking_loss, np.zeros(z.shape[1]), (z, gold, starts), jac=True, method="L-BFGS-B").x


def fit_values(z: Features, labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """(features,) weights of the ridge regression of standardised labels on z; NaN is a missing label.

    Raises ValueError if no candidate has a label.
    """
    labelled = ~np.isnan(labels)
    if not labelled.any():
        raise ValueError("no candidate has a label")
    z, labels = z[labelled], labels[labelled]
    return np.linalg.solve(z.T @ z / len(z) + RIDGE * np.eye(z.shape[1]), z.T @ labels / len(z))


def cross_fitted(
    z: Features, starts: Starts, folds: NDArray[np.int64], fit, labels: NDArray
) -> tuple[NDArray[np.float64], dict[int, NDArray[np.float64]]]:
    """(candidates,) scores under weights fitted on the questions of the other folds, and the weights by fold.

    folds: (questions,). fit: `fit_ranking` or `fit_values`. labels: (candidates,).
    Raises ValueError if the other folds have no question or no label.
    """
    counts = np.diff(np.append(starts, len(z)))
    row_folds = np.repeat(folds, counts)
    scores, weights = np.zeros(len(z)), {}
    for fold in np.unique(folds).tolist():
        others = row_folds != fold
        if not others.any():
            raise ValueError("there is no question")
        other_starts = np.append(0, np.cumsum(counts[folds != fold])[:-1])
        args = (z[others], labels[others], other_starts) if fit is fit_ranking else (z[others], labels[others])
        weights[fold] = fit(*args)
        scores[~others] = z[~others] @ weights[fold]
    return scores, weights
