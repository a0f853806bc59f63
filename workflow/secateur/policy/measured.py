"""The tables of preferences and features as arrays, a split at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.policy.actions import Configuration
from secateur.policy.utility import Terms, terms

__all__ = ["Measured", "measured"]


@dataclass(frozen=True)
class Measured:
    """Questions of one split: the terms of their utilities, and their features (questions, features) by name."""

    terms: Terms
    names: tuple[str, ...]
    x: NDArray[np.float64]


def measured(
    preferences: pl.DataFrame, features: pl.DataFrame, split: str, configurations: Sequence[Configuration]
) -> Measured:
    """One split of both tables, questions sorted by id. Raises SecateurError for a split without a question."""
    own = preferences.filter(pl.col("split") == split)
    if own.is_empty():
        raise SecateurError(
            f"table preferences has no question of the split {split}; allowed: train, dev and test questions. "
            "Fix: dataset.trained names how many of each, and the data set must have them."
        )
    found = terms(own.select("question_id", "configuration", "lift", "faithfulness", "tokens"), configurations)
    rows = features.filter(pl.col("split") == split).sort("question_id", "n")
    names = tuple(rows.select("n", "feature").unique().sort("n")["feature"])
    return Measured(found, names, rows["value"].to_numpy().reshape(len(found.questions), len(names)))
