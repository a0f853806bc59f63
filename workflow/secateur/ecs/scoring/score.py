"""Scores over the table `statistics`, each a plug-in in scores/: expressions over a candidate's row.

The question's base row is joined as `base_*`. A score is null if a column it reads is null, as for answer-aware scores of
questions without an answer.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError, nearest
from secateur.ecs.columns import BASE, COLUMNS

__all__ = ["columns", "expression", "score", "sees_answer", "with_base"]


def expression(spec: str | Mapping[str, Any]) -> pl.Expr:
    """The expression of a score, from its spec in an option.

    Raises SecateurError for an unknown plug-in or setting, and for a plug-in that fails, returns no expression, or reads
    a column that `statistics` lacks.
    """
    (name,) = plugins.names_in([spec])
    plugin, settings = plugins.load("score", name), plugins.settings("score", spec, "conf/rankers", "rankers.scores")
    with plugins.calling("score", plugin):
        value = plugin.score(settings)
        if not isinstance(value, pl.Expr):
            raise TypeError(f"score() gave a {type(value).__name__}, a Polars expression is needed")
        for column in value.meta.root_names() or ["no column by its name"]:
            if column not in COLUMNS:
                raise ValueError(f"it reads {column}, allowed: {', '.join(COLUMNS)}{nearest(column, COLUMNS)}")
    return value.cast(pl.Float64)


def columns(spec: str | Mapping[str, Any]) -> list[str]:
    """Columns of `statistics` that a score reads."""
    return expression(spec).meta.root_names()


def sees_answer(spec: str | Mapping[str, Any]) -> bool:
    """Whether a score reads the gold answer. Such scores label, evaluate and train, but never select a context."""
    return any(COLUMNS[column].aware for column in columns(spec))


def with_base(statistics: pl.DataFrame) -> pl.DataFrame:
    """The rows of the candidates with `base_*` columns from their question's base row.

    Raises SecateurError for a question without a base row.
    """
    base = statistics.filter(pl.col("passage_id").is_null())
    base = base.select("question_id", *(pl.col(c).alias(f"base_{c}") for c in BASE))
    candidates = statistics.filter(pl.col("passage_id").is_not_null())
    missing = candidates.join(base, on="question_id", how="anti")["question_id"]
    if len(missing):
        raise SecateurError(
            f"statistics: question {missing[0]} has no base row. Fix: keep the rows without passage_id."
        )
    return candidates.join(base, on="question_id", how="left", maintain_order="left")


def score(statistics: pl.DataFrame, spec: str | Mapping[str, Any]) -> pl.DataFrame:
    """(question_id, passage_id, value) of every candidate, in the table's order; null where undefined."""
    return with_base(statistics).select("question_id", "passage_id", value=expression(spec))
