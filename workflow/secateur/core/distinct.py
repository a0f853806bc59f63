"""Distinct rows of a frame: small integer columns are packed into one 64-bit key, exactly, and sorted."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["all_distinct", "distinct_pairs", "first_places"]

KEY_BITS = 63  # of a signed 64-bit integer


def _packed(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series | None:
    """One integer a row, equal exactly where the rows are equal. None unless the columns are small integers >= 0."""
    if not frame.height or not all(frame[c].dtype.is_integer() and not frame[c].null_count() for c in columns):
        return None
    parts = [frame[c].cast(pl.Int64) for c in columns]
    bits = [int(part.max()).bit_length() for part in parts]
    if sum(bits) > KEY_BITS or any(int(part.min()) < 0 for part in parts):
        return None
    key = parts[0]
    for part, width in zip(parts[1:], bits[1:], strict=True):
        key = key * (1 << width) + part
    return key


def _rising(frame: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether rows rise strictly in lexicographic order. False where a null decides, and for lists."""
    if any(frame[name].dtype.is_nested() for name in columns):
        return False
    above = pl.lit(False)
    for name in reversed(columns):
        value, before = pl.col(name), pl.col(name).shift(1)
        above = (value > before) | ((value == before) & above)
    return bool(frame.select(above.slice(1).fill_null(False).all()).item()) if frame.height > 1 else True


def all_distinct(frame: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether no two rows agree on all the columns."""
    if _rising(frame, columns):  # stored tables are sorted by key: no sort, no hash
        return True
    if len(columns) == 1:
        return frame[columns[0]].n_unique() == frame.height
    key = _packed(frame, columns)
    return (frame.n_unique(columns) if key is None else key.n_unique()) == frame.height


def first_places(frame: pl.DataFrame, columns: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First occurrences of each combination of the columns.

    Returns (m,) rows where a combination occurs first, rising; and (n,) for each row the index of its combination
    among those m.
    """
    key = _packed(frame, columns)
    if key is None:
        numbered = frame.select(columns).with_row_index("row")
        first = numbered.select(pl.col("row").first().over(columns)).to_series().to_numpy()
        return np.unique(first.astype(np.int64), return_inverse=True)
    order, values = key.arg_sort().to_numpy(), key.to_numpy()
    values = values[order]
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    first = np.minimum.reduceat(order, starts)
    is_first = np.zeros(len(order), bool)
    is_first[first] = True
    rank = np.cumsum(is_first)[first] - 1
    place = np.empty(len(order), np.int64)
    place[order] = np.repeat(rank, np.diff(starts, append=len(order)))
    return np.flatnonzero(is_first), place


def distinct_pairs(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.int64]:
    """(2, m) distinct pairs (left, right), sorted. Integers >= 0 whose bounds multiply to less than 2^63.

    >>> distinct_pairs(np.array([2, 0, 2]), np.array([5, 7, 5])).tolist()
    [[0, 2], [7, 5]]
    """
    width = int(right.max(initial=0)) + 1
    keys = np.sort(left.astype(np.int64) * width + right)
    return np.stack(np.divmod(keys[np.diff(keys, prepend=-1) > 0], width))
