"""How likely each ranked passage is evidence: a logistic map of its soft rank, fitted on gold."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.evaluation.folds import folds_of

__all__ = ["Ranked", "cross_fitted", "fit_calibration", "probabilities", "probability", "soft_rank"]

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


def probabilities(
    rankings: pl.DataFrame,
    settings,
    order: str | None,
    questions: pl.DataFrame,
    evidence: pl.DataFrame | None,
    resampling,
    dataset: str,
) -> pl.DataFrame:
    """The table `rankings` with p, the probability of each passage; settings: calibration, rank_width of a form.

    With `evidence` the map is cross-fitted by question on the gold of the data set itself, else it is the option's.
    Raises SecateurError where nothing can be fitted, or the option has no map for this order.
    """
    found = []
    for part in rankings.sort("scorer", "question_id", "rank").partition_by("scorer", maintain_order=True):
        parts = {
            key[0]: own for key, own in part.partition_by("question_id", as_dict=True, maintain_order=True).items()
        }
        fitted = _coefficients(parts, settings, order, questions, evidence, resampling, dataset)
        for question, own in parts.items():
            p = probability(own["value"].to_numpy().astype(float), fitted[question], settings.rank_width)
            found.append(own.with_columns(p=pl.Series(p, dtype=pl.Float64)))
    return pl.concat(found)


def _coefficients(parts, settings, order, questions, evidence, resampling, dataset) -> dict[str, Coefficients]:
    """The coefficients for each question."""
    if evidence is None:
        if order not in settings.calibration:
            raise SecateurError(
                f"{dataset}: assembly.form.calibration has no map for order {order}. Fix: add one, or dataset.crossfit=true"
            )
        return dict.fromkeys(parts, settings.calibration[order])
    gold = dict(evidence.drop_nulls("passage_id").group_by("question_id").agg("passage_id").iter_rows())
    rows = [
        Ranked(own["value"].to_numpy().astype(float), own["passage_id"].is_in(gold.get(q, [])).to_numpy())
        for q, own in parts.items()
    ]
    cluster = dict(questions.select("question_id", "cluster_id").iter_rows())
    folds = folds_of([cluster[q] for q in parts], list(parts), resampling.min_clusters, resampling.folds)
    try:
        return dict(zip(parts, cross_fitted(rows, folds, settings.rank_width), strict=True))
    except ValueError as error:
        raise SecateurError(
            f"{dataset}: dataset.crossfit is true, but {error} in some fold ({len(rows)} questions). "
            "Fix: dataset.crossfit=false takes the coefficients of assembly.form.calibration"
        ) from error
