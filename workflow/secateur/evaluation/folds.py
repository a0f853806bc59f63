"""Which questions are fitted together and which are scored: no unit of resampling is ever on both sides."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["folds_of"]


def folds_of(clusters: Sequence[str], ids: Sequence[str], minimum: int, folds: int) -> NDArray[np.int64]:
    """(n,) fold of each question: of its cluster by hash, so that a unit is never split; by question where there are
    fewer than `minimum` clusters; one fold a unit where there are no more units than folds."""
    names = clusters if len(set(clusters)) >= minimum else ids
    if len(set(names)) <= folds:
        return np.unique(np.asarray(names, dtype=object).astype(str), return_inverse=True)[1]
    return np.array([int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % folds for name in names])
