"""Approximate range graph of many entities: each vector is compared with the cells nearest to it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.kmeans import clusters, means
from secateur.graph.consolidation.screen import Pairs, Tile, near_pairs

__all__ = ["approximate_pairs"]

PER_CELL = 256  # vectors per cell, a constant, so that the work grows linearly
ITERATIONS, SEED = 10, 7  # of the k-means that makes the cells
AROUND = 1024  # cells nearest to a vector's cell, among which its nearest cells are searched
BLOCK = 1024  # centres per matrix product

Cells = tuple[NDArray[np.int64], list[int], NDArray[np.float32]]


def approximate_pairs(vectors: NDArray[np.float32], tau: float, probes: int) -> Pairs:
    """Pairs i < j with cosine >= tau, sorted by (i, j). No pair is wrong; more probes miss fewer.

    vectors: (n, d) unit rows, which may be memory-mapped. A pair is found if the cell of one vector is among the
    `probes` cells nearest to the other.
    """
    leaf = clusters(vectors, len(vectors) // PER_CELL, ITERATIONS, SEED)
    cell = _nearest(vectors, *_cells(vectors, leaf), 1)[:, 0]  # the leaf may not be the nearest cell
    order, ends, centres = _cells(vectors, cell)
    tiles = _tiles(_nearest(vectors, order, ends, centres, probes)[order], ends)
    return near_pairs(vectors, order, tau, tiles, scattered=False)


def _cells(vectors: NDArray[np.float32], cell: NDArray[np.integer]) -> Cells:
    """(vectors sorted by cell, bounds of the cells, centres); empty cells are omitted."""
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    return order, [*starts, len(order)], means(vectors, order, starts)


def _nearest(
    vectors: NDArray[np.float32], order: NDArray[np.int64], ends: list[int], centres: NDArray[np.float32], count: int
) -> NDArray[np.int32]:
    """(n, count) cells whose centres are nearest to each vector, among those around its cell."""
    count = min(count, len(centres))
    nearest = np.empty((len(order), count), np.int32)
    for start in range(0, len(centres), BLOCK):
        cosines = centres[start : start + BLOCK] @ centres.T
        around = np.argpartition(-cosines, min(max(AROUND, count), len(centres)) - 1, axis=1)[:, : max(AROUND, count)]
        for cell, others in enumerate(around, start):
            members = order[ends[cell] : ends[cell + 1]]
            near = np.asarray(vectors[members], np.float32) @ centres[others].T
            best = near.argmax(1)[:, None] if count == 1 else np.argpartition(-near, count - 1, axis=1)[:, :count]
            nearest[members] = others[best]
    return nearest


def _tiles(probed: NDArray[np.int32], ends: list[int]) -> Iterator[Tile]:
    """Each cell with the places of the vectors that probe it. probed: (n, probes) cells, by place."""
    place = np.argsort(probed, axis=None, kind="stable") // probed.shape[1]
    counts = np.bincount(probed.ravel(), minlength=len(ends) - 1)
    for cell, others in enumerate(np.split(place, counts.cumsum()[:-1])):
        if len(others):
            yield slice(ends[cell], ends[cell + 1]), others
