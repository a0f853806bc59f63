"""The range graph of many entities: an inverted index over 8-bit codes, its pairs rechecked in fp32."""

import shutil

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.groups import SCREEN_MARGIN, Pairs

__all__ = ["approximate_pairs"]

BLOCK = 4096  # rows searched at once
LISTS_PER_ROOT, SAMPLE_PER_LIST = 2, 39  # cells: 2 sqrt(n); 39 training vectors a cell are what faiss asks for


def approximate_pairs(vectors: NDArray[np.float32], tau: float, probes: int) -> Pairs:
    """Pairs i < j with cosine >= tau, sorted by (i, j): none is wrong, few are missed, fewer with more probes.

    vectors: (n, d) unit rows, which may be memory-mapped: codes take a quarter of their bytes. A pair is found from
    either end.
    """
    import faiss

    index, found = _index(faiss, vectors), []
    faiss.extract_index_ivf(index).nprobe = probes
    for start in range(0, len(vectors), BLOCK):
        rows = np.ascontiguousarray(vectors[start : start + BLOCK], np.float32)
        limits, _, j = index.range_search(rows, tau - SCREEN_MARGIN)
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
    """Trained on an even sample, filled block by block. A GPU does the training where there is one."""
    cells = max(1, min(int(LISTS_PER_ROOT * len(vectors) ** 0.5), len(vectors) // SAMPLE_PER_LIST))
    index = faiss.index_factory(vectors.shape[1], f"IVF{cells},SQ8", faiss.METRIC_INNER_PRODUCT)
    step = max(1, len(vectors) // (cells * SAMPLE_PER_LIST))
    on_gpu = shutil.which("nvidia-smi") is not None and faiss.get_num_gpus() > 0  # 0 in faiss-cpu
    trained = faiss.index_cpu_to_all_gpus(index) if on_gpu else index
    trained.train(np.ascontiguousarray(vectors[::step], np.float32))
    index = faiss.index_gpu_to_cpu(trained) if on_gpu else index
    for start in range(0, len(vectors), BLOCK):
        index.add(np.ascontiguousarray(vectors[start : start + BLOCK], np.float32))
    return index
