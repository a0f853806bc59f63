"""The ranking of source sentences, which a prompt draws on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.ranking.group import neighbour_smoothed, z_scores

__all__ = ["Standing", "smoothed", "source_scores"]

Scores = NDArray[np.float64]  # (questions, sentences)


@dataclass(frozen=True)
class Standing:
    """Which units stand in which sentences, by sentence: sentence have[i] has units[starts[i]:starts[i + 1]]."""

    units: NDArray[np.int64]
    have: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, units: NDArray[np.int64], sentences: NDArray[np.int64]) -> "Standing":
        """From parallel pairs."""
        order = np.argsort(sentences, kind="stable")
        return cls(units[order], *np.unique(sentences[order], return_index=True))

    def best(self, values: NDArray[np.float32], count: int) -> Scores:
        """(questions, count) best value of the units in each sentence; the row's minimum where there is none.

        values: (questions, units).
        """
        found = np.tile(values.min(1, keepdims=True), count).astype(np.float64)
        if len(self.units):
            found[:, self.have] = np.maximum.reduceat(values[:, self.units], self.starts, axis=1)
        return found


def source_scores(cfg, lexical: Scores, signals: Mapping[str, Scores]) -> Scores:
    """Weighted sum of z-scores: BM25's, and the signals weighed by `w_NAME` of the option."""
    total = np.zeros(lexical.shape)
    if cfg.w_bm25:
        total += cfg.w_bm25 * z_scores(lexical)
    for name, values in signals.items():
        total += getattr(cfg, f"w_{name}") * z_scores(values)
    return total


def smoothed(scores: Scores, docs: NDArray[np.int64], neighbour: float) -> Scores:
    """z-scores; order-aware with a share of the better neighbour's."""
    return z_scores(neighbour_smoothed(scores, docs, neighbour) if neighbour else scores)
