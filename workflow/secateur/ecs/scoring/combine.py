"""Scorers over the candidates of a pool: scores under a model, calibrated ones, and joined ones (ECS, section 3).

A feature is a baseline's score, one under a language model, or a plain one (`length`, `overlap`, `names_speaker`). What
joins features is answer-aware where one of them is, and then chooses among all candidates; what is answer-free chooses among
those found without the answer.
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
from secateur.ecs.scoring.plain import plain
from secateur.ecs.scoring.score import score, sees_answer

__all__ = ["answer_aware", "calibrated", "choosable", "features", "joined"]

KEY = ["question_id", "passage_id"]


def answer_aware(of: str | Sequence[str], scores: Mapping[str, Any]) -> bool:
    """Whether what is made of some features sees the gold answer of the question that it scores. What is distilled saw
    others' only. scores: `rankers.scores`."""
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

    scores: `rankers.scores`. Raises SecateurError for a name that is neither a baseline's in `rankings`, nor among them, nor
    of a plain feature.
    """
    baselines, found = set(rankings["scorer"].unique()), pool.drop("probed")
    for name in names:
        if name in PLAIN:
            column = plain(name, pool, questions, passages)
        elif name in baselines:
            column = rankings.filter(pl.col("scorer") == name).select(
                *KEY, pl.col("value").cast(pl.Float64).alias(name)
            )
        elif name in scores:
            column = score(statistics, scores[name]).rename({"value": name})
        else:
            allowed = [*sorted(baselines), *scores, *PLAIN]
            raise SecateurError(
                f"conf/rankers: feature {name!r} is not known; allowed: {', '.join(allowed)}{nearest(name, allowed)}"
            )
        found = found.join(column, on=KEY, how="left", maintain_order="left")
    return found


def choosable(table: pl.DataFrame, aware: bool) -> pl.DataFrame:
    """The candidates a scorer chooses among."""
    return table.filter(pl.col("rank").is_not_null() if aware else pl.col("free"))


def calibrated(table: pl.DataFrame, name: str, draws: int) -> pl.DataFrame:
    """(question_id, passage_id, value, chance): a feature as z-scores against passages drawn by chance."""
    drawn = table.drop_nulls("turn").sort("question_id", "quartile", "turn")
    every = pl.concat([drawn, table.filter(pl.col("turn").is_null())])
    order = every.select(*KEY, "quartile", drawn=pl.col("turn").is_not_null())
    return null(every.select(*KEY, value=name), order.drop_nulls("quartile"), draws)


def joined(
    table: pl.DataFrame, spec: Mapping[str, Any], aware: bool, gold: pl.DataFrame, folds: Mapping[str, int]
) -> tuple[pl.DataFrame, dict[str, float]]:
    """(question_id, passage_id, value) of a `sum`, `fitted` or `distilled` scorer, and the mean weight of each feature.

    Candidates that lack a feature are left out; a label is asked of the questions that are fitted to.
    aware: whether it sees the answer; gold: (question_id, passage_id); folds: of each question.
    Raises SecateurError where the questions of the other folds have nothing to fit to.
    """
    names, kind = spec["of"], spec["kind"]
    own = choosable(table, aware).sort(*KEY).drop_nulls(names)
    if not own.height:
        return own.select(*KEY, value=pl.lit(0.0)), {}
    starts = np.flatnonzero(np.append(True, own["question_id"].to_numpy()[1:] != own["question_id"].to_numpy()[:-1]))
    z = standardised(own.select(names).to_numpy(), starts)
    if kind == "sum":
        return own.select(*KEY, value=pl.Series(z.sum(1))), {}
    of = np.array([folds[q] for q in own["question_id"].gather(starts)])
    try:
        values, weights = cross_fitted(z, starts, of, *_target(own, spec, gold, starts))
    except ValueError as error:
        raise SecateurError(
            f"conf/rankers: {kind} over {', '.join(names)}: {error} in the other folds. Fix: leave it out on this data set."
        ) from error
    mean = dict(zip(names, np.mean(list(weights.values()), axis=0).tolist(), strict=True))
    return own.select(*KEY, value=pl.Series(values)), mean


def _target(own: pl.DataFrame, spec: Mapping[str, Any], gold: pl.DataFrame, starts: NDArray[np.int64]):
    """What is fitted, and to what."""
    if spec["kind"] == "fitted":
        hit = own.join(gold.with_columns(hit=pl.lit(True)), on=KEY, how="left", maintain_order="left")["hit"]
        return fit_ranking, hit.fill_null(False).to_numpy()
    labels = own.select(spec["label"]).to_numpy()  # NaN where a question lacks one
    return fit_values, standardised(labels, starts)[:, 0]
