"""Folds of questions for cross-fitting; no resampling unit is ever split between folds."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["folds_of"]


def folds_of(clusters: Sequence[str], ids: Sequence[str], minimum: int, folds: int) -> NDArray[np.int64]:
    """(n,) fold of each question, by a hash of its resampling unit.

    The unit is the cluster, or the question itself if there are fewer than `minimum` clusters. With at most `folds` units,
    each is a fold.
    """
    units = clusters if len(set(clusters)) >= minimum else ids
    if len(set(units)) <= folds:
        return np.unique(np.asarray(units, dtype=object).astype(str), return_inverse=True)[1]
    return np.array([int(hashlib.sha256(unit.encode()).hexdigest()[:8], 16) % folds for unit in units])
