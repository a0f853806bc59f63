"""The range graph of many entities: cells of near vectors, each compared with the entities that lie beside it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.kmeans import clusters, means
from secateur.graph.consolidation.screen import Pairs, Tile, near_pairs

__all__ = ["approximate_pairs"]

PER_CELL = (
    256  # vectors: each is compared with as many however many there are, so the work grows with their number alone
)
ITERATIONS, SEED = 10, 7  # of the k-means of the cells
AROUND = 1024  # cells beside a vector's own, by their centres, among which its nearest are looked for
BLOCK = 1024  # centres compared with all others at once

Cells = tuple[NDArray[np.int64], list[int], NDArray[np.float32]]


def approximate_pairs(vectors: NDArray[np.float32], tau: float, probes: int) -> Pairs:
    """Pairs i < j with cosine >= tau, sorted by (i, j): none is wrong, few are missed, fewer with more probes.

    vectors: (n, d) unit rows, which may be memory-mapped: codes take a quarter of their bytes. A pair is found where the
    cell of one is among the `probes` cells nearest to the other.
    """
    leaf = clusters(vectors, len(vectors) // PER_CELL, ITERATIONS, SEED)
    cell = _nearest(vectors, *_cells(vectors, leaf), 1)[:, 0]  # a leaf of the tree may not be the nearest of all
    order, ends, centres = _cells(vectors, cell)
    tiles = _tiles(_nearest(vectors, order, ends, centres, probes)[order], ends)
    return near_pairs(vectors, order, tau, tiles, scattered=False)


def _cells(vectors: NDArray[np.float32], cell: NDArray[np.integer]) -> Cells:
    """The vectors cell by cell, where each cell ends and the next begins, and its centre; empty cells are left out."""
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    return order, [*starts, len(order)], means(vectors, order, starts)


def _nearest(
    vectors: NDArray[np.float32], order: NDArray[np.int64], ends: list[int], centres: NDArray[np.float32], count: int
) -> NDArray[np.int32]:
    """(n, count) the cells whose centres are nearest to each vector, of those around its own."""
    count = min(count, len(centres))
    found = np.empty((len(order), count), np.int32)
    for start in range(0, len(centres), BLOCK):
        cosines = centres[start : start + BLOCK] @ centres.T
        around = np.argpartition(-cosines, min(max(AROUND, count), len(centres)) - 1, axis=1)[:, : max(AROUND, count)]
        for cell, others in enumerate(around, start):
            own = order[ends[cell] : ends[cell + 1]]
            near = np.asarray(vectors[own], np.float32) @ centres[others].T
            best = near.argmax(1)[:, None] if count == 1 else np.argpartition(-near, count - 1, axis=1)[:, :count]
            found[own] = others[best]
    return found


def _tiles(probed: NDArray[np.int32], ends: list[int]) -> Iterator[Tile]:
    """Each cell with the places of the vectors that it is near to. probed: (n, probes) cells, by place."""
    place = np.argsort(probed, axis=None, kind="stable") // probed.shape[1]
    counts = np.bincount(probed.ravel(), minlength=len(ends) - 1)
    for cell, others in enumerate(np.split(place, counts.cumsum()[:-1])):
        if len(others):
            yield slice(ends[cell], ends[cell + 1]), others
