"""Layer 1 of consolidation against a bare faiss Flat range search over the same vectors: 20k x 384, tau .93."""

import numpy as np
from harness import Figure, cpu_seconds, publish

from secateur.consolidate import groups, medoids, range_pairs

COUNT, DIM, TAU, SLACK = 20_000, 384, 0.93, 0.02
PER_CLUSTER, SPREAD = 8, 0.016  # cosines inside a cluster lie around the threshold
GOAL = 0.35  # of the bare search


def vectors(count: int) -> np.ndarray:
    """Clustered unit vectors, (count, DIM)."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(count // PER_CLUSTER, DIM)) / DIM**0.5
    found = centres[rng.integers(len(centres), size=count)] + SPREAD * rng.normal(size=(count, DIM))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def main() -> None:
    """CPU seconds of both and the recall of pairs."""
    import faiss
    import torch

    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    entities = vectors(COUNT)
    names = [f"entity {chr(97 + n % 26)}{n}" for n in range(COUNT)]
    index = faiss.IndexFlatIP(DIM)
    index.add(entities)

    def ours() -> tuple:
        pairs = range_pairs(entities, TAU)
        made, _ = groups(names, entities, pairs, link=TAU - SLACK, guarded=False)
        return pairs, medoids(entities, made)

    bare, mine = cpu_seconds(lambda: index.range_search(entities, TAU), ours, repeats=3)
    limits, _, other = index.range_search(entities, TAU)
    rows = np.repeat(np.arange(COUNT), np.diff(limits.astype(np.int64)))
    wanted = {(a, b) for a, b in zip(rows.tolist(), other.tolist(), strict=True) if a < b}
    found = set(zip(*(part.tolist() for part in ours()[0][:2]), strict=True))
    recall = len(wanted & found) / len(wanted)
    publish(
        "consolidate",
        [
            Figure("consolidate 20k", mine, "CPU seconds", "faiss Flat range_search", bare, GOAL, "<="),
            Figure("pair recall", recall, "share", None, None, 1.0, ">="),
        ],
    )


if __name__ == "__main__":
    main()
