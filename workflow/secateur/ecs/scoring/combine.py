"""Scores of the candidates in a pool, calibrated against the null or joined with other features (ECS, section 3).

A feature is a ranking's score, a score under a language model, or a plain feature (`length`, `overlap`, `names_speaker`).
A scorer is answer-aware if one of its features is; it then scores all candidates. An answer-free scorer scores only the
candidates pooled without the answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError, nearest
from secateur.ecs.names import PLAIN
from secateur.ecs.scoring.fusion import cross_fitted, fit_ranking, fit_values, standardised
from secateur.ecs.scoring.null import null
from secateur.ecs.scoring.plain import plain_feature
from secateur.ecs.scoring.score import score, sees_answer

__all__ = ["answer_aware", "calibrated", "features", "joined", "scorable", "transferred"]

KEY = ["question_id", "passage_id"]


def answer_aware(of: str | Sequence[str], scores: Mapping[str, Any]) -> bool:
    """Whether a scorer with these features sees the gold answer of the question that it scores.

    A distilled scorer does not: it is fitted to the labels of other questions. scores: `rankers.scores`.
    """
    names = [of] if isinstance(of, str) else of
    return any("+answer" in name or (name in scores and sees_answer(scores[name])) for name in names)


def features(
    pool: pl.DataFrame,
    questions: pl.DataFrame,
    passages: pl.DataFrame,
    rankings: pl.DataFrame,
    statistics: pl.DataFrame,
    scores: Mapping[str, Any],
    names: Sequence[str],
) -> pl.DataFrame:
    """(question_id, passage_id, rank, free, quartile, turn, *names) of every pooled passage; null where undefined.

    A passage that a ranking of its question does not keep has the lowest score that it keeps. scores: `rankers.scores`. Raises SecateurError for a name that is no scorer of `rankings`, score or plain feature.
    """
    rankers = set(rankings["scorer"].unique())
    table = pool.drop("probed")
    for name in names:
        if name in PLAIN:
            column = plain_feature(name, pool, questions, passages)
        elif name in rankers:
            column = rankings.filter(pl.col("scorer") == name).select(
                *KEY, pl.col("value").cast(pl.Float64).alias(name)
            )
        elif name in scores:
            column = score(statistics, scores[name]).rename({"value": name})
        else:
            allowed = [*sorted(rankers), *scores, *PLAIN]
            raise SecateurError(
                f"conf/rankers: feature {name!r} is not known; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
            )
        table = table.join(column, on=KEY, how="left", maintain_order="left")
        if name in rankers:
            lowest = column.group_by("question_id").agg(lowest=pl.col(name).min())
            table = table.join(lowest, on="question_id", how="left", maintain_order="left")
            table = table.with_columns(pl.col(name).fill_null(pl.col("lowest"))).drop("lowest")
    return table


def scorable(table: pl.DataFrame, aware: bool) -> pl.DataFrame:
    """Candidates that an answer-aware or answer-free scorer scores."""
    return table.filter(pl.col("rank").is_not_null() if aware else pl.col("free"))


def calibrated(table: pl.DataFrame, name: str, draws: int) -> pl.DataFrame:
    """(question_id, passage_id, value, chance): a feature as z-scores against randomly drawn passages."""
    drawn = table.drop_nulls("turn").sort("question_id", "quartile", "turn")
    ordered = pl.concat([drawn, table.filter(pl.col("turn").is_null())])
    quartiles = ordered.select(*KEY, "quartile", drawn=pl.col("turn").is_not_null()).drop_nulls("quartile")
    return null(ordered.select(*KEY, value=name), quartiles, draws)


def joined(
    table: pl.DataFrame, spec: Mapping[str, Any], aware: bool, gold: pl.DataFrame, folds: Mapping[str, int]
) -> tuple[pl.DataFrame, dict[str, float]]:
    """(question_id, passage_id, value) of a `sum`, `fitted` or `distilled` scorer, and each feature's mean weight.

    Candidates that lack a feature are left out. Questions without a label are scored, but not fitted to.
    gold: question_id, passage_id. folds: question id -> fold.
    Raises SecateurError if the questions of the other folds have no gold passage or label to fit to.
    """
    names, plugin = spec["of"], spec["kind"]
    candidates, starts, z = _standardised(table, names, aware)
    if not candidates.height:
        return candidates.select(*KEY, value=pl.lit(0.0)), {}
    if plugin == "sum":
        return candidates.select(*KEY, value=pl.Series(z.sum(1))), {}
    question_folds = np.array([folds[question] for question in candidates["question_id"].to_numpy()[starts]])
    try:
        values, weights = cross_fitted(z, starts, question_folds, *_fit_and_labels(candidates, spec, gold, starts))
    except ValueError as error:
        raise SecateurError(
            f"conf/rankers: {plugin} over {', '.join(names)}: {error} in the other folds. "
            "Fix: leave it out on this data set."
        ) from error
    means = dict(zip(names, np.mean(list(weights.values()), axis=0).tolist(), strict=True))
    return candidates.select(*KEY, value=pl.Series(values)), means


def transferred(
    table: pl.DataFrame, spec: Mapping[str, Any], aware: bool, others: Sequence[tuple[pl.DataFrame, pl.DataFrame]]
) -> tuple[pl.DataFrame, dict[str, float]]:
    """(question_id, passage_id, value) of a `fitted` scorer under weights of other data sets, and the weights.

    All questions of the other sets weigh the same. others: features, and gold (question_id, passage_id), of each set.
    Raises SecateurError if they have no gold candidate.
    """
    fits, first = [], 0
    for features_, gold in others:
        other_candidates, starts, z = _standardised(features_, spec["of"], aware)
        if other_candidates.height:
            fits.append((z, _fit_and_labels(other_candidates, spec, gold, starts)[1], starts + first))
            first += other_candidates.height
    if not any(gold.any() for _, gold, _ in fits):
        raise SecateurError(
            f"conf/rankers: fitted over {', '.join(spec['of'])}: the other sets of rankers.fitted_on have no gold candidate. "
            "Fix: name sets with evidence."
        )
    weights = fit_ranking(*map(np.concatenate, zip(*fits, strict=True)))
    candidates, _, z = _standardised(table, spec["of"], aware)
    named = dict(zip(spec["of"], weights.tolist(), strict=True))
    return candidates.select(*KEY, value=pl.Series(z @ weights, dtype=pl.Float64)), named


def _standardised(table: pl.DataFrame, names: Sequence[str], aware: bool):
    """The candidates that have every feature, the first row of each question, and the features as z-scores."""
    candidates = scorable(table, aware).sort(*KEY).drop_nulls(names)
    ids, raw = candidates["question_id"].to_numpy(), candidates.select(names).to_numpy()
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    return candidates, starts, standardised(raw, starts) if len(raw) else raw


def _fit_and_labels(candidates: pl.DataFrame, spec: Mapping[str, Any], gold: pl.DataFrame, starts: NDArray[np.int64]):
    """The fitting function of a scorer, and the labels of the candidates."""
    if spec["kind"] == "fitted":
        hits = candidates.join(gold.with_columns(hit=pl.lit(True)), on=KEY, how="left", maintain_order="left")["hit"]
        return fit_ranking, hits.fill_null(False).to_numpy()
    labels = candidates.select(spec["label"]).to_numpy()  # NaN where a question lacks one
    return fit_values, standardised(labels, starts)[:, 0]
