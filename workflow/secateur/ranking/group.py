"""What rankers score: the passages of a group for a batch of questions, as a (questions, passages) matrix.

A file in `scorers/` is a ranker: its `Settings`, and `score(settings, group, asked, seed)`. A score of minus infinity
leaves a passage out of the ranking. Ids never reach what a ranker computes, but for rankings made elsewhere and gold.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["EPS", "Asked", "Group", "Scores", "blocks", "neighbour_smoothed", "top", "z_scores"]

T = TypeVar("T")
Scores = NDArray[np.float64]  # (questions, passages)
EPS = 1e-9  # keeps a constant row's z-scores finite
CELLS = 1 << 24  # of a matrix of scores: 128 MB


@dataclass(frozen=True)
class Group:
    """The passages that questions choose from, in reading order.

    texts: what is scored ("Speaker: text" for dialogue); titles: per passage, may be empty;
    docs: (n,) document number, neighbours stay inside; vectors: unit embeddings, on demand.
    """

    texts: Sequence[str]
    titles: Sequence[str]
    docs: NDArray[np.int64]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ids: Sequence[str] = ()
    made: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What a ranker makes of the passages alone, such as an index: made once for all questions."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


@dataclass(frozen=True)
class Asked:
    """A batch of questions: their words, their ids, the ids of their gold passages."""

    queries: Sequence[str]
    ids: Sequence[str] = ()
    gold: Sequence[frozenset[str]] = field(default_factory=tuple)


def blocks(questions: pl.DataFrame, passages: int) -> Iterator[pl.DataFrame]:
    """Some questions of a group at a time, so that a matrix of their scores has CELLS cells at most, one row at least."""
    yield from questions.iter_slices(max(1, CELLS // max(1, passages)))


def top(scores: NDArray[np.floating], k: int) -> NDArray[np.int64]:
    """Indices of the k best scores, best first, ties to the lower index."""
    if not 0 < k < len(scores):
        return np.argsort(-scores, kind="stable")[:k]
    least = np.partition(scores, len(scores) - k)[-k]
    among = np.flatnonzero(scores >= least)  # a few of many: to sort them all would take ten times as long
    return among[np.argsort(-scores[among], kind="stable")][:k]


def z_scores(scores: Scores) -> Scores:
    """Each row minus its mean over its population standard deviation."""
    return (scores - scores.mean(1, keepdims=True)) / (scores.std(1, keepdims=True) + EPS)


def neighbour_smoothed(scores: Scores, docs: NDArray[np.int64], share: float) -> Scores:
    """z-scores plus `share` times the better neighbouring passage's, inside the document.

    A missing neighbour counts as the row's minimum.
    """
    z = z_scores(scores)
    lowest = z.min(1, keepdims=True)
    same = docs[1:] == docs[:-1]
    before, after = np.tile(lowest, z.shape[1]), np.tile(lowest, z.shape[1])
    before[:, 1:] = np.where(same, z[:, :-1], lowest)
    after[:, :-1] = np.where(same, z[:, 1:], lowest)
    return z + share * np.maximum(before, after)
