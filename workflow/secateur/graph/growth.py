"""Growth of the codebook with the passages read (paper, figure 6)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["exponent", "growth"]


def growth(symbols: NDArray[np.integer], places: NDArray[np.integer], read: Sequence[int]) -> list[int]:
    """Number of distinct symbols in the first n passages, for each n of `read`.

    symbols, places: (mentions,) symbol of each mention, and the place of its passage in text order.

    >>> growth(np.array([0, 1, 0, 2]), np.array([0, 0, 1, 2]), [1, 2, 3])
    [2, 2, 3]
    """
    first = np.full(int(symbols.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, symbols, places)
    return np.searchsorted(np.sort(first), read, side="left").tolist()


def exponent(read: Sequence[int], counts: Sequence[int]) -> float | None:
    """Least-squares slope of log count over log passages read; None below two points with a count above 0.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    points = np.unique([(x, y) for x, y in zip(read, counts, strict=True) if y], axis=0)
    return float(np.polyfit(*np.log(points).T, 1)[0]) if len(points) > 1 else None
