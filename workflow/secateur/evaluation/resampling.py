"""Intervals and paired tests over resampling units."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["bootstrap", "paired_test", "units"]


def units(clusters: Sequence[str], minimum: int) -> NDArray[np.int64]:
    """(n,) resampling unit of each question: its cluster, or itself where there are fewer than `minimum` clusters."""
    _, codes = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    return codes if len(set(codes.tolist())) >= minimum else np.arange(len(codes))


def _sums(values: NDArray[np.float64], unit: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per unit: (units, series) sums of the values, and the number of questions."""
    count = int(unit.max()) + 1
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, unit, values)
    return sums, np.bincount(unit, minlength=count).astype(float)


def bootstrap(
    values: NDArray[np.float64], unit: NDArray[np.int64], resamples: int, confidence: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile intervals of the mean of each column: (low, high), each (series,).

    values: (questions, series); whole units are drawn with replacement.
    """
    sums, sizes = _sums(values, unit)
    drawn = np.random.default_rng(seed).multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), size=resamples)
    means = (drawn @ sums) / (drawn @ sizes)[:, None]
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def paired_test(
    differences: NDArray[np.float64], unit: NDArray[np.int64], permutations: int, seed: int
) -> NDArray[np.float64]:
    """Two-sided p of each column's mean difference: signs of whole units are flipped at random.

    The observed assignment counts as one, so p is never 0. differences: (questions, series).
    """
    sums, _ = _sums(differences, unit)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(permutations, len(sums)))
    observed = np.abs(sums.sum(0))
    beyond = (np.abs(signs @ sums) >= observed - 1e-12).sum(0)
    return (beyond + 1) / (permutations + 1)
