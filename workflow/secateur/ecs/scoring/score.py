"""Scores over the table `statistics`, each a kind in scores/: one row a candidate, its question's base in `base_*`.

A score is null where what it reads was not computed or does not exist, as for an answer-aware one without an answer.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError, nearest
from secateur.ecs.columns import BASE, COLUMNS

__all__ = ["columns", "expression", "paired", "score", "sees_answer"]


def expression(spec: str | Mapping[str, Any]) -> pl.Expr:
    """A score as it is written in an option, as an expression.

    Raises SecateurError for an unknown kind or setting, for a kind that fails, that gives no expression, or one that
    reads what `statistics` does not have.
    """
    (name,) = plugins.named([spec])
    kind, settings = plugins.load("score", name), plugins.settings("score", spec, "conf/rankers", "rankers.scores")
    with plugins.calling("score", kind):
        found = kind.score(settings)
        if not isinstance(found, pl.Expr):
            raise TypeError(f"score() gave a {type(found).__name__}, a Polars expression is needed")
        for column in found.meta.root_names() or ["no column by its name"]:
            if column not in COLUMNS:
                raise ValueError(f"it reads {column}, allowed: {', '.join(COLUMNS)}{nearest(column, COLUMNS)}")
    return found.cast(pl.Float64)


def columns(spec: str | Mapping[str, Any]) -> list[str]:
    """What a score reads of the statistics."""
    return expression(spec).meta.root_names()


def sees_answer(spec: str | Mapping[str, Any]) -> bool:
    """Whether a score is made of the gold answer: such scores label, evaluate and train, and choose nothing."""
    return any(COLUMNS[column].aware for column in columns(spec))


def paired(statistics: pl.DataFrame) -> pl.DataFrame:
    """The candidates' rows with `base_*` columns of their questions' base rows.

    Raises SecateurError where a question has no base row.
    """
    base = statistics.filter(pl.col("passage_id").is_null())
    base = base.select("question_id", *(pl.col(c).alias(f"base_{c}") for c in BASE))
    candidates = statistics.filter(pl.col("passage_id").is_not_null())
    alone = candidates.join(base, on="question_id", how="anti")["question_id"]
    if len(alone):
        raise SecateurError(f"statistics: question {alone[0]} has no base row. Fix: keep the rows without passage_id.")
    return candidates.join(base, on="question_id", how="left", maintain_order="left")


def score(statistics: pl.DataFrame, spec: str | Mapping[str, Any]) -> pl.DataFrame:
    """(question_id, passage_id, value) of every candidate, in the table's order; null where the score is undefined."""
    return paired(statistics).select("question_id", "passage_id", value=expression(spec))
