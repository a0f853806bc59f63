"""The same bytes whatever the hash seed and the threads the environment asks for, from the passages to the contexts;
and the same figures whichever kernel OpenBLAS takes.

Stages are called under their contract, but without Snakemake, which would set the threads of each job itself. Caches
start empty, so that parser and encoder are part of it. A kind of machine is one identity: within a kernel tables are
equal to the byte, between kernels floats differ in their last places.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.support.project import copy_project

pytestmark = pytest.mark.slow

KERNELS = ["Haswell", "Zen", "SkylakeX", "Sandybridge"]  # the last, so that any CPU with AVX compares two
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"]
FLOATS = 1e-5  # how far two kernels may be apart

BUILD = """
import importlib, os, sys
from pathlib import Path

from secateur.stage.contract import Job, run_stage  # first, as a rule's script has it
from secateur.config import compose
from secateur.config.leaves import leaves as leaves_of

import polars
from threadpoolctl import threadpool_info

GROUPS = {"eval": "default", "corpus": "toy_documents", "dataset": "toy_documents", "order": "blind", "embedder": "minilm"}
GROUPS |= {"extractor": "openie", "codebook": "default", "consolidation": "default", "retriever": "beam"}
GROUPS |= {"assembly": "lines", "lm": "smollm2"}
CODEBOOK, RUNS = ["entities", "relations", "edges", "lines", "edge_sources"], ["runs", "run_edges"]
STAGES = [
    ("prepare_corpus", [], ["passages"]),
    ("prepare_dataset", ["passages"], ["questions", "evidence"]),
    ("extract_triples", ["passages"], ["triples"]),
    ("build_codebook", ["passages", "triples"], CODEBOOK),
    ("build_runs", ["edges", "lines", "edge_sources"], RUNS),
    ("consolidate", ["passages", "entities", "edges", "edge_sources", "run_edges"],
     ["aliases", "edges", "edge_sources", "run_edges", "tombstones"]),
    ("encode_questions", ["questions"], ["triples"]),
    ("find_mentions", ["passages", "entities", "edges", "edge_sources"], ["mentions"]),
    ("rank_by_graph", ["passages", "questions", "triples", "entities", "relations", "edges", "lines", "run_edges",
     "mentions"], ["candidates", "rankings", "paths"]),
    ("assemble_contexts", ["passages", "questions", "rankings", "triples", "entities", "relations", "edges",
     "edge_sources", "aliases"], ["contexts"]),
]


def watched(run):
    '''The stage, and what it was held to: asked at its end, when all that it needs is loaded.'''
    def watching(*args):
        metrics = run(*args)
        pools = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
        pools |= {"torch": sys.modules["torch"].get_num_threads()} if "torch" in sys.modules else {}
        assert set(pools.values()) | {polars.thread_pool_size()} == {1}, pools
        return metrics
    return watching


out = Path(sys.argv[1])
leaves = {"extra.order": '"blind"', "extra.name": '"toy_documents"', "extra.first": "null"}
for group, name in GROUPS.items():
    leaves |= leaves_of(group, compose.option(Path("conf"), group, name))
axes = {"shard": "0of1", "dataset": "toy_documents", "assembly": "lines", "pick": "graph"}
newest = {"files": [Path("data/toy/documents/passages.jsonl")]}
for stage, reads, writes in STAGES:
    made = {name: out / "tables" / stage / f"{name}.parquet" for name in writes}
    inputs = {name: newest[name] for name in [*reads, *(["files"] if stage.startswith("prepare") else [])]}
    record, log = out / "records" / stage / "run.json", out / "logs" / f"{stage}.log"
    job = Job(stage, inputs, made, record, leaves, "code", axes, 1, log, Path.cwd())
    run_stage(watched(importlib.import_module(f"scripts.{stage}").run), job)
    newest |= {name: [path] for name, path in made.items()}
"""
# The kernel of NumPy's library and of SciPy's, after a product that dies where the CPU lacks an instruction.
TAKEN = """
import numpy, scipy.linalg, threadpoolctl
a = numpy.ones((64, 64), numpy.float32)
assert (a @ a == 64).all() and (scipy.linalg.blas.sgemm(1, a, a) == 64).all()
print(*sorted({str(pool["architecture"]) for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}))
"""


@cache
def taken(told: str | None = None) -> str | None:
    """The kernel that OpenBLAS takes, where it is told one or by itself; None where this CPU cannot run it."""
    environment = os.environ | ({"OPENBLAS_CORETYPE": told} if told else {})
    done = subprocess.run([sys.executable, "-c", TAKEN], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A function: {table: bytes} of the n-th build under a kernel.

    Those under the machine's own share nothing but the project. The others are given the encoder as it was converted
    for the first: that takes half the time of a build, and is no sum of OpenBLAS's.
    """
    project = copy_project(tmp_path_factory.mktemp("twice") / "project")

    @cache
    def build(kernel: str, n: int = 0) -> dict[str, bytes]:
        out = project.root.parent / f"{kernel}{n}"
        if kernel != taken():
            build(taken())
            copy_converted(project.root.parent / f"{taken()}0" / "cache", out / "cache")
        told = {"PYTHONHASHSEED": str(n), "OPENBLAS_CORETYPE": kernel, "SECATEUR_CACHE": str(out / "cache")}
        done = project.run("python", "-c", BUILD, str(out), **told, **dict.fromkeys(THREADS, str(n + 1)))
        assert done.returncode == 0, done.stderr[-2000:]
        tables = out / "tables"
        return {str(path.relative_to(tables)): path.read_bytes() for path in tables.rglob("*.parquet")}

    return build


def copy_converted(source: Path, target: Path) -> None:
    """The converted encoder of one cache into another, without the vectors beside it."""
    for path in source.rglob("model.*"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


@pytest.fixture(params=KERNELS)
def kernel(request) -> str:
    """Each kernel that OpenBLAS can be told to take here, besides the machine's own."""
    found = taken(request.param)
    if found != request.param or found == taken():
        pytest.skip(
            f"asked for {request.param}, OpenBLAS takes {found} (None: this CPU cannot) and {taken()} by itself"
        )
    return found


def test_the_bytes_depend_on_neither_hash_seed_nor_threads(built):
    first, second = built(taken()), built(taken(), 1)
    assert set(first) == set(second)
    assert len(first) == 22
    assert [name for name, content in first.items() if second[name] != content] == []


def test_between_kernels_floats_differ_in_their_last_places_and_nothing_else(built, kernel):
    own, other = built(taken()), built(kernel)
    assert set(own) == set(other)
    for name, content in own.items():
        assert_frame_equal(
            pl.read_parquet(content), pl.read_parquet(other[name]), check_exact=False, rel_tol=FLOATS, abs_tol=FLOATS
        )
