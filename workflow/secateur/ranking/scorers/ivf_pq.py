"""Approximate cosine for large groups: product codes in an inverted file; the best candidates are scored exactly.

A vector takes `code` bytes in the index, and a query searches `probes` cells; passages that it does not find are not ranked.
FAISS trains and fills the index on a GPU if there is one.
"""

import shutil
from dataclasses import dataclass

import numpy as np

from secateur.core.fields import key
from secateur.core.products import cosines
from secateur.models.prompts import asked
from secateur.ranking.group import Group, Questions, Scores

# FAISS's guidelines: at least 4 sqrt(n) cells, and 30 to 256 training vectors for each.
CELLS_PER_ROOT, SAMPLE_PER_CELL = 4, 64
ITERATIONS = 10
BLOCK = 65_536  # vectors added to the index at once
MIN_VECTORS = 256 * SAMPLE_PER_CELL  # product codes have 256 centres; fewer vectors are compared exactly


@dataclass(frozen=True)
class Settings:
    """Size of the codes, and extent of the search."""

    code: int = key("bytes of a vector in the index; divides embedder.dim", low=1)
    probes: int = key("cells that a question searches", low=1)
    found: int = key("passages whose cosine is computed exactly", low=1)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Inner products of unit vectors for the `found` nearest by code; minus infinity for all others."""
    vectors, queries = group.vectors, group.embed(asked(questions.queries))
    if len(vectors) < MIN_VECTORS:
        return cosines(queries, vectors, np.arange(len(vectors)))
    index = group.once(("ivf_pq", settings.code), lambda: _index(vectors, settings.code, seed))
    index.nprobe = settings.probes
    near = index.search(queries, settings.found)[1]
    scores = np.full((len(queries), len(vectors)), -np.inf)
    for row, places in enumerate(near):
        places = places[places >= 0]  # -1: fewer passages found
        scores[row, places] = np.ascontiguousarray(vectors[places]) @ queries[row]
    return scores


def _index(vectors: np.ndarray, code: int, seed: int):
    """An index of the vectors, trained on every k-th of them."""
    import faiss

    cells = int(CELLS_PER_ROOT * len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], f"IVF{cells},PQ{code}", faiss.METRIC_INNER_PRODUCT)
    index.do_polysemous_training = False  # takes nine tenths of the training and serves a search that is not used here
    for training in (index.cp, index.pq.cp):
        training.seed, training.niter, training.max_points_per_centroid = seed, ITERATIONS, SAMPLE_PER_CELL
    on_gpu = shutil.which("nvidia-smi") is not None and faiss.get_num_gpus() > 0  # 0 in faiss-cpu
    device_index = faiss.index_cpu_to_all_gpus(index) if on_gpu else index
    device_index.train(np.ascontiguousarray(vectors[:: max(1, len(vectors) // (cells * SAMPLE_PER_CELL))]))
    for start in range(0, len(vectors), BLOCK):
        device_index.add(np.ascontiguousarray(vectors[start : start + BLOCK]))
    return faiss.index_gpu_to_cpu(device_index) if on_gpu else device_index
