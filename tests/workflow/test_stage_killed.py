"""A stage that is killed with -9 leaves nothing under a final name, and resumes where it stood."""

import signal
from pathlib import Path

from scripts import extract_triples
from test_stage_contract import ROOT, files, job_of, record, run_script, writes_pool

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.datasets.loaders import load_corpus
from secateur.stage.contract import Job, run_stage

KILLED_WRITING = """
import os, signal
from test_stage_contract import POOL, Path, job_of, run_stage

def run(cfg, inputs, outputs, ctx):
    outputs["pool"] = POOL
    os.kill(os.getpid(), signal.SIGKILL)

run_stage(run, job_of(Path({folder!r}), "pool"))
"""
KILLED_EXTRACTING = """
import os, signal
from secateur.core.cache import RequestCache
from test_stage_killed import Path, extract_triples, extraction, run_stage

put = RequestCache.put
def once(self, key, reply):
    put(self, key, reply)
    os.kill(os.getpid(), signal.SIGKILL)
RequestCache.put = once
run_stage(extract_triples.run, extraction(Path({folder!r})))
"""


def killed(script: str, folder: Path) -> None:
    done = run_script(script.format(folder=str(folder)))
    assert done.returncode == -signal.SIGKILL, done.stderr


def extraction(folder: Path) -> Job:
    """A real shard of the shipped smoke documents, in blocks of four sentences."""
    passages = folder / "passages.parquet"
    if not passages.exists():
        folder.mkdir(exist_ok=True)
        corpus = load_corpus("folder", {"folder": ROOT / "data/toy/documents_smoke"})
        write_table(TABLES["passages"], corpus.passages, passages)
    return job_of(
        folder,
        "triples",
        inputs={"passages": [passages]},
        leaves={"extractor.kind": '"openie"', "extractor.block": "4", "extractor.settings": '{"batch": 32}'},
        axes={"corpus": "toy", "extractor": "openie", "shard": "0of2"},
    )


def test_a_job_killed_before_its_end_leaves_nothing_under_a_final_name(tmp_path):
    killed(KILLED_WRITING, tmp_path)
    assert [name for name in files(tmp_path) if not name.startswith(".")] == []
    assert [name for name in files(tmp_path) if name.startswith(".pool.parquet.")]
    run_stage(writes_pool, job_of(tmp_path, "pool"))
    assert record(tmp_path)["failure"] is None
    assert files(tmp_path) == {"pool.parquet", "run.json"}  # what the killed one left half-written is gone


def test_a_killed_extraction_resumes_at_its_block_and_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "killed"
    folder.mkdir()
    killed(KILLED_EXTRACTING, folder)
    assert not (folder / "triples.parquet").exists()
    assert not (folder / "run.json").exists()
    run_stage(extract_triples.run, extraction(folder))
    assert record(folder)["counts"]["cache_hits"] == 1
    assert record(folder)["counts"]["cache_misses"] >= 2

    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "another"))
    whole = tmp_path / "whole"
    run_stage(extract_triples.run, extraction(whole))
    assert record(whole)["counts"]["cache_hits"] == 0
    assert (folder / "triples.parquet").read_bytes() == (whole / "triples.parquet").read_bytes()
    assert record(whole)["rows"]["triples"] > 0
