"""The cosine for groups that are too large for all of it: product codes in an inverted file, the best again exactly.

A vector takes `code` bytes in the index and is looked for in `probes` cells; what is not found has no place in the ranking.
FAISS trains and fills the index on a GPU where there is one.
"""

import shutil
from dataclasses import dataclass

import numpy as np

from secateur.core.fields import key
from secateur.ranking.group import Asked, Group, Scores

CELLS_PER_ROOT, SAMPLE_PER_CELL = (
    4,
    64,
)  # FAISS's guidelines: 4 sqrt(n) cells and more, 30 to 256 vectors of each to train
ITERATIONS = 10
LEAST = 256 * SAMPLE_PER_CELL  # vectors: product codes have 256 centres; fewer vectors are compared exactly


@dataclass(frozen=True)
class Settings:
    """How small the codes are, and how many of them are looked at."""

    code: int = key("bytes of a vector in the index; divides embedder.dim", low=1)
    probes: int = key("cells that a question looks into", low=1)
    found: int = key("passages whose cosine is computed exactly", low=1)


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Inner products of unit vectors for the `found` nearest by their codes; minus infinity for all others."""
    vectors = group.once("vectors", lambda: group.embed(group.texts))
    queries = group.embed(asked.queries)
    if len(vectors) < LEAST:
        return (queries @ vectors.T).astype(float)
    index = group.once(("ivf_pq", settings.code), lambda: _index(vectors, settings.code, seed))
    index.nprobe = settings.probes
    near = index.search(queries, settings.found)[1]
    scores = np.full((len(queries), len(vectors)), -np.inf)
    for row, own in enumerate(near):
        places = own[own >= 0]
        scores[row, places] = vectors[places] @ queries[row]
    return scores


def _index(vectors: np.ndarray, code: int, seed: int):
    """Trained on an even sample."""
    import faiss

    cells = int(CELLS_PER_ROOT * len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], f"IVF{cells},PQ{code}", faiss.METRIC_INNER_PRODUCT)
    index.do_polysemous_training = False  # for a search that is not used here, and nine tenths of the training
    for training in (index.cp, index.pq.cp):
        training.seed, training.niter, training.max_points_per_centroid = seed, ITERATIONS, SAMPLE_PER_CELL
    on_gpu = shutil.which("nvidia-smi") is not None and faiss.get_num_gpus() > 0  # 0 in faiss-cpu
    made = faiss.index_cpu_to_all_gpus(index) if on_gpu else index
    made.train(np.ascontiguousarray(vectors[:: max(1, len(vectors) // (cells * SAMPLE_PER_CELL))]))
    made.add(vectors)
    return faiss.index_gpu_to_cpu(made) if on_gpu else made
