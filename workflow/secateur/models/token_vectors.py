"""Vectors of the tokens of many strings, a byte a number, for late interaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from secateur.core.artifacts import atomic
from secateur.core.tables.vectors import Packed

__all__ = ["TokenVectors"]


@dataclass(frozen=True)
class TokenVectors:
    """Vectors of the tokens of n strings. rows: (tokens, d + 1), as `Packed` has them; starts, counts: (n,) of each string."""

    rows: NDArray[np.int8]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: Sequence[NDArray[np.float32]]) -> "TokenVectors":
        """From the (tokens, d) vectors of each string."""
        counts = np.array([len(tokens) for tokens in vectors], np.int64)
        return cls(Packed.of(np.concatenate(vectors)).rows, np.cumsum(counts) - counts, counts)

    @classmethod
    def joined(cls, blocks: Sequence["TokenVectors"]) -> "TokenVectors":
        """The strings of several blocks, one block after another."""
        counts = np.concatenate([block.counts for block in blocks] or [np.zeros(0, np.int64)])
        rows = np.concatenate([block.rows for block in blocks] or [np.zeros((0, 1), np.int8)])
        return cls(rows, np.cumsum(counts) - counts, counts)

    @classmethod
    def load(cls, path: Path) -> "TokenVectors":
        """A block that `save` wrote."""
        with np.load(path) as stored:
            counts, rows = stored["counts"], stored["rows"]
        if counts.sum() != len(rows):
            raise ValueError(f"{len(rows)} vectors, {counts.sum()} tokens")
        return cls(rows, np.cumsum(counts) - counts, counts)

    def save(self, path: Path) -> None:
        """Write a block, whole or not at all."""
        with atomic(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, rows=self.rows, counts=self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def at(self, chosen: NDArray[np.integer]) -> "TokenVectors":
        """k chosen strings; their vectors are not copied."""
        return TokenVectors(self.rows, self.starts[chosen], self.counts[chosen])

    def unpacked(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """(tokens, d) vectors of all strings in order, and (n,) the place where each string begins."""
        places = np.cumsum(self.counts) - self.counts
        rows = np.arange(self.counts.sum()) + np.repeat(self.starts - places, self.counts)
        packed = Packed(self.rows, rows)
        return packed[np.arange(len(packed))], places

    def max_sim(self, asked: NDArray[np.float32]) -> NDArray[np.float64]:
        """(n,) MaxSim of each string: the mean over the question's token vectors (q, d) of the highest cosine of a token."""
        if not len(self):
            return np.zeros(0)
        vectors, places = self.unpacked()
        return np.maximum.reduceat(asked @ vectors.T, places, axis=1).mean(0).astype(float)
