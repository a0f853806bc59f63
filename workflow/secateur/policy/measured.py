"""One split of the tables `preferences` and `features`, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.policy.actions import Configuration
from secateur.policy.utility import MEASURED, Terms, terms

__all__ = ["Measured", "measured", "names_of"]


@dataclass(frozen=True)
class Measured:
    """Questions of one split: the terms of their utilities, and their features (questions, features) by name."""

    terms: Terms
    names: tuple[str, ...]
    x: NDArray[np.float64]


def names_of(features: pl.DataFrame) -> tuple[str, ...]:
    """The names of a table of features, in order."""
    return tuple(features.select("n", "feature").unique().sort("n")["feature"])


def measured(
    preferences: pl.DataFrame, features: pl.DataFrame, split: str, configurations: Sequence[Configuration]
) -> Measured:
    """One split of both tables, questions sorted by id. Raises SecateurError for a split without a question."""
    judged = pl.col("faithfulness").is_not_null().all().over("question_id")  # an unreadable verdict is no 0
    rows = preferences.filter((pl.col("split") == split) & judged)
    if rows.is_empty():
        raise SecateurError(
            f"table preferences has no question of the split {split}; allowed: train, dev and test questions. "
            "Fix: state in dataset.trained how many the data set has of each, or take another ecs.policy_judge if all lack a verdict."
        )
    measured_terms = terms(rows.select("question_id", "configuration", *MEASURED), configurations)
    values = features.filter(pl.col("question_id").is_in(measured_terms.questions)).sort("question_id", "n")
    names = names_of(features)
    x = values["value"].to_numpy().reshape(len(measured_terms.questions), len(names))
    return Measured(measured_terms, names, x)
