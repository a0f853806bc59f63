"""Layer 1 of consolidation against a bare faiss Flat range search over the same vectors: 20k x 384, tau .93.

`--size` takes other numbers of vectors. Above `consolidation.exact_limit` cells of near vectors are measured instead, in a
process of its own over memory-mapped vectors: peak memory, and the recall of pairs on a sample of rows.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from harness import Figure, cpu_seconds, publish

from secateur.config import compose
from secateur.graph.consolidation.groups import alias_groups, medoids, range_pairs
from secateur.graph.consolidation.neighbours import approximate_pairs

CONF = Path(__file__).resolve().parent.parent / "conf"
OPTION = compose.option(CONF, "consolidation", "default")
COUNT, DIM, BLOCK, SEED = 20_000, 384, 50_000, 7
PER_CLUSTER, SPREAD = 8, 0.016  # near-duplicates: a centre and perturbed copies, with cosines around the threshold
GOAL, MEMORY, SAMPLE = 0.15, 1.5, 1_000  # of the bare search; of the vectors' bytes; rows


def vectors(count: int, start: int = 0, stop: int | None = None) -> np.ndarray:
    """Rows start to stop of `count` clustered unit vectors, (stop - start, DIM); start is a multiple of BLOCK."""
    which, parts = np.random.default_rng(SEED).integers(count // PER_CLUSTER, size=count), []
    for place in range(start, count if stop is None else stop, BLOCK):
        part = which[place : place + BLOCK]
        numbers, centre = np.unique(part, return_inverse=True)
        centres = np.stack([np.random.default_rng((SEED, 0, int(n))).normal(size=DIM) for n in numbers]) / DIM**0.5
        noise = np.random.default_rng((SEED, 1, place)).normal(size=(len(part), DIM))
        found = centres[centre] + SPREAD * noise
        parts.append((found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32))
    return np.concatenate(parts)


def pairs_of(i: np.ndarray, j: np.ndarray) -> set[tuple[int, int]]:
    """Pairs as a set."""
    return set(zip(i.tolist(), j.tolist(), strict=True))


def exact(count: int) -> list[Figure]:
    """CPU seconds of both and the recall of pairs."""
    import faiss
    import torch

    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    entities = vectors(count)
    names = [f"entity {chr(97 + n % 26)}{n}" for n in range(count)]
    index = faiss.IndexFlatIP(DIM)
    index.add(entities)
    kept = {}

    def bare() -> None:
        kept["bare"] = index.range_search(entities, OPTION.tau)

    def ours() -> None:
        kept["ours"] = range_pairs(entities, OPTION.tau)
        made, _ = alias_groups(names, entities, kept["ours"], link=OPTION.tau - OPTION.slack, guarded=False)
        medoids(entities, made)

    slow, fast = cpu_seconds(bare, ours, repeats=3 if count <= COUNT else 1)
    limits, _, other = kept["bare"]
    rows = np.repeat(np.arange(count), np.diff(limits.astype(np.int64)))
    wanted, found = pairs_of(rows[rows < other], other[rows < other]), pairs_of(*kept["ours"][:2])
    name = f"consolidate {count // 1000}k"
    return [
        Figure(name, fast, "CPU seconds", "faiss Flat range_search", slow, GOAL, "<="),
        Figure("pair recall", len(wanted & found) / len(wanted), "share", None, None, 1.0, ">="),
    ]


def child(path: Path) -> None:
    """Print CPU seconds, peak bytes; leave the pairs beside the vectors."""
    import faiss
    import torch

    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    entities, started = np.load(path, mmap_mode="r"), time.process_time()
    i, j, _ = approximate_pairs(entities, OPTION.tau, OPTION.probes)
    status = Path("/proc/self/status").read_text()  # getrusage would count what the parent held before exec
    print(time.process_time() - started, int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024)
    np.save(path.with_name("pairs.npy"), np.stack([i, j]))


def large(count: int) -> list[Figure]:
    """Cells of near vectors: CPU seconds, peak memory, recall of the pairs of SAMPLE rows."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        entities = np.lib.format.open_memmap(path, "w+", np.float32, (count, DIM))
        for start in range(0, count, BLOCK):
            entities[start : start + BLOCK] = vectors(count, start, min(start + BLOCK, count))
        entities.flush()
        done = subprocess.run([sys.executable, __file__, "--child", path], capture_output=True, text=True, check=True)
        seconds, peak = map(float, done.stdout.split())
        found = np.load(path.with_name("pairs.npy"))
        sample = np.random.default_rng(SEED).choice(count, SAMPLE, replace=False)
        wanted = set()
        for start in range(0, count, BLOCK):
            row, other = np.nonzero(entities[sample] @ entities[start : start + BLOCK].T >= OPTION.tau)
            one, two = sample[row], other + start
            wanted |= pairs_of(np.minimum(one, two)[one != two], np.maximum(one, two)[one != two])
    mine = found[:, np.isin(found, sample).any(0)]
    name = f"consolidate {count // 1000}k"
    bytes_ = count * DIM * 4
    return [
        Figure(f"{name} by cells", seconds, "CPU seconds", None, None, None, None),
        Figure(f"{name} peak memory", peak, "bytes", "the vectors' bytes", bytes_, MEMORY, "<="),
        Figure(
            f"pair recall of {SAMPLE} rows",
            len(wanted & pairs_of(*mine)) / len(wanted),
            "share",
            None,
            None,
            None,
            None,
        ),
    ]


def main() -> None:
    """By size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=COUNT)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child)
        return
    figures = exact(asked.size) if asked.size <= OPTION.exact_limit else large(asked.size)
    publish("consolidate" if asked.size == COUNT else f"consolidate_{asked.size}", figures)


if __name__ == "__main__":
    main()
