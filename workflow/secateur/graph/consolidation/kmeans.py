"""Hierarchical spherical k-means, whose cost grows with the points and the log of the clusters."""

import shutil
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["BRANCHES", "clusters", "means", "proportional"]

GPU_POINTS = 20_000  # below, starting a GPU takes longer than the clusters do on a core
BRANCHES = 64  # clusters of one k-means; more are made by clustering each branch again


def clusters(vectors: NDArray[np.float32], k: int, iterations: int, seed: int) -> NDArray[np.int64]:
    """(n,) cluster of each point, below k; clusters may be empty. vectors: (n, d) unit rows.

    Above BRANCHES clusters, each branch gets a share in proportion to its points. There are log k / log BRANCHES levels
    of cost n BRANCHES d.
    """
    if k <= 1 or len(vectors) <= 1:
        return np.zeros(len(vectors), np.int64)
    if k >= len(vectors):
        return np.arange(len(vectors))
    if k <= BRANCHES:
        return _flat(vectors, k, iterations, seed)
    branch = _flat(vectors, BRANCHES, iterations, seed)
    labels, first = np.zeros(len(vectors), np.int64), 0
    order = np.argsort(branch, kind="stable")
    branches = np.split(order, np.flatnonzero(np.diff(branch[order])) + 1)
    for part, share in zip(branches, proportional([len(part) for part in branches], k), strict=True):
        labels[part] = first + clusters(vectors[part], int(share), iterations, seed)
        first += int(share)
    return labels


def _flat(vectors: NDArray[np.float32], k: int, iterations: int, seed: int) -> NDArray[np.int64]:
    """(n,) cluster of each point by one k-means, of many points on a GPU if there is one."""
    import faiss

    points = np.ascontiguousarray(vectors, np.float32)
    many = len(points) >= GPU_POINTS and shutil.which("nvidia-smi") is not None
    on_gpu = many and faiss.get_num_gpus() > 0  # 0 in faiss-cpu
    kmeans = faiss.Kmeans(
        points.shape[1], k, niter=iterations, seed=seed, spherical=True, min_points_per_centroid=1, gpu=on_gpu
    )
    kmeans.train(points)
    return kmeans.index.search(points, 1)[1].ravel()


def means(vectors: NDArray[np.float32], order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """(clusters, d) unit means. order: points sorted by cluster; starts: first place of each cluster."""
    ends = [*starts, len(order)]
    sums = np.empty((len(starts), vectors.shape[1]), np.float32)
    for first in range(0, len(starts), BRANCHES):
        last = min(first + BRANCHES, len(starts))
        points = vectors[order[ends[first] : ends[last]]]
        sums[first:last] = np.add.reduceat(points, starts[first:last] - starts[first], axis=0)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)


def proportional(sizes: Sequence[int], room: int) -> NDArray[np.int64]:
    """Integer shares of `room` in proportion to sizes, each between 1 and its size.

    The shares sum to `room` unless there are more sizes than room, or the sizes sum to less.
    """
    size, low, high = np.array(sizes, np.int64), 0.0, 1.0
    for _ in range(50):  # bisection to the precision of a float
        middle = (low + high) / 2
        fits = np.maximum(1, np.floor(size * middle)).sum() <= room
        low, high = (middle, high) if fits else (low, middle)
    share = np.maximum(1, np.floor(size * low)).astype(np.int64)
    remainder = np.where(share < size, size * low - share, -np.inf)  # lost by rounding down
    share[np.argsort(-remainder, kind="stable")[: max(0, room - share.sum())]] += 1
    return np.minimum(share, size)
