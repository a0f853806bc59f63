"""Spherical k-means whose cost grows with the points, not with the points times the clusters: a tree of small ones."""

import shutil
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BRANCHES", "clusters", "means", "proportional"]

BRANCHES = 64  # clusters of one k-means; for more, each of so many is clustered again


def clusters(vectors: NDArray[np.float32], k: int, iterations: int, seed: int) -> NDArray[np.int64]:
    """(n,) the cluster of each point, below k; some may be empty. vectors: (n, d) unit rows.

    Of more than BRANCHES clusters each branch gets a share in proportion to its points, so that a level costs
    n BRANCHES d and there are log k / log BRANCHES levels.
    """
    if k <= 1 or len(vectors) <= 1:
        return np.zeros(len(vectors), np.int64)
    if k >= len(vectors):
        return np.arange(len(vectors))
    if k <= BRANCHES:
        return _flat(vectors, k, iterations, seed)
    branch = _flat(vectors, BRANCHES, iterations, seed)
    found, first = np.zeros(len(vectors), np.int64), 0
    order = np.argsort(branch, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(branch[order])) + 1)
    for part, share in zip(parts, proportional([len(part) for part in parts], k), strict=True):
        found[part] = first + clusters(vectors[part], int(share), iterations, seed)
        first += int(share)
    return found


def _flat(vectors: NDArray[np.float32], k: int, iterations: int, seed: int) -> NDArray[np.int64]:
    """One k-means over all points. A GPU does it where there is one."""
    import faiss

    own = np.ascontiguousarray(vectors, np.float32)
    on_gpu = shutil.which("nvidia-smi") is not None and faiss.get_num_gpus() > 0  # 0 in faiss-cpu
    found = faiss.Kmeans(
        own.shape[1], k, niter=iterations, seed=seed, spherical=True, min_points_per_centroid=1, gpu=on_gpu
    )
    found.train(own)
    return found.index.search(own, 1)[1].ravel()


def means(vectors: NDArray[np.float32], order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """(clusters, d) unit means. order: the points, cluster by cluster; starts: where each begins."""
    ends, found = [*starts, len(order)], np.empty((len(starts), vectors.shape[1]), np.float32)
    for first in range(0, len(starts), BRANCHES):
        last = min(first + BRANCHES, len(starts))
        own = vectors[order[ends[first] : ends[last]]]
        found[first:last] = np.add.reduceat(own, starts[first:last] - starts[first], axis=0)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def proportional(sizes: Sequence[int], room: int) -> NDArray[np.int64]:
    """Whole shares of `room` in proportion to some sizes: one at least and its size at most, their sum within the room
    where that is possible, and the whole room where the sizes fill it."""
    size, low, high = np.array(sizes, np.int64), 0.0, 1.0
    for _ in range(50):  # halvings: more than a float's digits
        middle = (low + high) / 2
        fits = np.maximum(1, np.floor(size * middle)).sum() <= room
        low, high = (middle, high) if fits else (low, middle)
    share = np.maximum(1, np.floor(size * low)).astype(np.int64)
    rest = np.where(share < size, size * low - share, -np.inf)  # what rounding took
    share[np.argsort(-rest, kind="stable")[: max(0, room - share.sum())]] += 1
    return np.minimum(share, size)
