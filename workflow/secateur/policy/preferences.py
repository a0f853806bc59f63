"""Preference pairs of configurations whose utilities differ by more than a margin (paper 2.8)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.policy.actions import CHANNELS, Configuration, codes

__all__ = ["Pairs", "pair_statistics", "preference_pairs"]


@dataclass(frozen=True)
class Pairs:
    """(x, y+, y-) as indices: question, preferred configuration, rejected configuration."""

    question: NDArray[np.int64]
    chosen: NDArray[np.int64]
    rejected: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.question)


def preference_pairs(value: NDArray[np.float64], margin: float) -> Pairs:
    """All pairs whose utilities differ by more than the margin. value: (questions, configurations)."""
    return Pairs(*np.nonzero(value[:, :, None] - value[:, None, :] > margin))


def pair_statistics(value: NDArray[np.float64], margin: float, configurations: Sequence[Configuration]) -> dict:
    """Counts of questions and pairs, and shares of comparisons.

    coverage: share of questions with a pair; ties: share of comparisons within the margin; equal: share with the same
    utility, as of identical prompts; pairs_CHANNEL: pairs that differ in that channel's action.
    """
    pairs = preference_pairs(value, margin)
    levels = codes(configurations)
    upper, lower = np.triu_indices(value.shape[1], 1)
    compared = value[:, upper].size
    differ = (levels[pairs.chosen] != levels[pairs.rejected]).sum(0)
    return {
        "questions": len(value),
        "pairs": len(pairs),
        "coverage": len(np.unique(pairs.question)) / len(value),
        "ties": 1 - len(pairs) / compared,
        "equal": float((value[:, upper] == value[:, lower]).mean()),
        **{f"pairs_{channel}": int(count) for channel, count in zip(CHANNELS, differ, strict=True)},
    }
