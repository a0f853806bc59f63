"""The range graph of many entities: an inverted index over 8-bit codes, its pairs rechecked in fp32."""

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.groups import Pairs
from secateur.graph.consolidation.kmeans import clusters, means

__all__ = ["approximate_pairs"]

BLOCK = 4096  # rows searched at once
PER_CELL = 224  # vectors: a search reads as many however many there are, so all searches grow with their number alone
SAMPLE_PER_CELL, ITERATIONS, SEED = 39, 10, 7  # of the k-means of the cells; 39 vectors each are what faiss asks for
MARGIN = 0.004  # of a cosine in 8-bit codes, whose ranges are those of each dimension
LINKS, WIDTH = 32, 64  # of the graph over the cells' means, in which a search finds the nearest


def approximate_pairs(vectors: NDArray[np.float32], tau: float, probes: int) -> Pairs:
    """Pairs i < j with cosine >= tau, sorted by (i, j): none is wrong, few are missed, fewer with more probes.

    vectors: (n, d) unit rows, which may be memory-mapped: codes take a quarter of their bytes. A pair is found from
    either end.
    """
    import faiss

    index, found = _index(faiss, vectors), []
    index.nprobe, faiss.downcast_index(index.quantizer).hnsw.efSearch = probes, max(WIDTH, 2 * probes)
    for start in range(0, len(vectors), BLOCK):
        rows = np.ascontiguousarray(vectors[start : start + BLOCK], np.float32)
        limits, _, j = index.range_search(rows, tau - MARGIN)
        i = np.repeat(np.arange(start, start + len(rows)), np.diff(limits.astype(np.int64)))
        apart = i != j
        i, j = i[apart], j[apart]
        cosine = np.einsum("nd,nd->n", rows[i - start], np.asarray(vectors[j], np.float32))
        near = cosine >= tau
        i, j = i[near], j[near]
        found.append((np.minimum(i, j), np.maximum(i, j), cosine[near]))
    i, j, cosine = (
        (np.concatenate(part) for part in zip(*found, strict=True)) if found else (np.zeros(0, np.int64),) * 3
    )
    _, once = np.unique(i * len(vectors) + j, return_index=True)  # found from both ends, with one cosine
    return i[once], j[once], cosine[once].astype(np.float32)


def _index(faiss, vectors: NDArray[np.float32]):
    """Cells clustered on an even sample, filled block by block."""
    dim, cells = vectors.shape[1], max(1, len(vectors) // PER_CELL)
    step = max(1, len(vectors) // (cells * SAMPLE_PER_CELL))
    sample = np.ascontiguousarray(vectors[::step], np.float32)
    centres = means(sample, clusters(sample, cells, ITERATIONS, SEED))
    nearest = faiss.IndexHNSWFlat(dim, LINKS, faiss.METRIC_INNER_PRODUCT)
    nearest.add(centres)
    index = faiss.IndexIVFScalarQuantizer(
        nearest, dim, len(centres), faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    index.train(sample)  # of the codes alone: the cells are there
    for start in range(0, len(vectors), BLOCK):
        index.add(np.ascontiguousarray(vectors[start : start + BLOCK], np.float32))
    return index
