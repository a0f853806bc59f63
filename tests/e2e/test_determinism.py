"""The same bytes whatever the hash seed and the number of threads, from the passages to the candidates.

Stages are called directly: Snakemake would set the threads of each job itself. Caches start empty, so that parser and
encoder are part of it.
"""

import pytest

BUILD = """
import importlib, logging, sys
from pathlib import Path
from types import SimpleNamespace

from secateur.pipeline.config import compose
from secateur.pipeline.contract import Context, Inputs, Outputs

GROUPS = {"eval": "default", "corpus": "toy_documents", "dataset": "toy_documents", "track": "blind", "embedder": "minilm"}
GROUPS |= {"extractor": "openie", "codebook": "default", "consolidation": "default", "retriever": "default"}
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
    ("propose_candidates", ["passages", "questions", "triples", "entities", "relations", "edges", "lines", "run_edges"],
     ["candidates", "ranked"]),
    ("calibrate_sources", ["ranked"], ["sources"]),
]
out = Path(sys.argv[1])
cfg = SimpleNamespace(**{group: compose.option(Path("conf"), group, name) for group, name in GROUPS.items()})
axes = {"shard": "0of1", "track": "blind", "dataset": "toy_documents"}
ctx = Context(logging.getLogger("build"), out / "cache", axes, "code")
newest = {"files": [Path("data/toy/documents/passages.jsonl")]}
for stage, reads, writes in STAGES:
    made = {name: out / "tables" / stage / f"{name}.parquet" for name in writes}
    outputs = Outputs(made)
    inputs = {name: newest[name] for name in [*reads, *(["files"] if stage.startswith("prepare") else [])]}
    importlib.import_module(f"scripts.{stage}").run(cfg, Inputs(inputs), outputs, ctx)
    outputs.commit()
    newest |= {name: [path] for name, path in made.items()}
"""


@pytest.fixture(scope="module")
def builds(copy_project, tmp_path_factory):
    """{table: bytes} of two builds that share nothing but the project."""
    project = copy_project(tmp_path_factory.mktemp("twice") / "project")
    found = []
    for n in (0, 1):
        out = project.root.parent / str(n)
        done = project.run("python", "-c", BUILD, str(out), PYTHONHASHSEED=str(n), OMP_NUM_THREADS=str(n + 1))
        assert done.returncode == 0, done.stderr[-2000:]
        tables = out / "tables"
        found.append({str(path.relative_to(tables)): path.read_bytes() for path in tables.rglob("*.parquet")})
    return found


def test_every_table_was_written_by_both(builds):
    assert set(builds[0]) == set(builds[1])
    assert len(builds[0]) == 20


def test_the_bytes_depend_on_neither_hash_seed_nor_threads(builds):
    assert [name for name, content in builds[0].items() if builds[1][name] != content] == []
