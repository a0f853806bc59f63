"""The stage contract: outputs appear whole and last of all their record, or nothing does, kill -9 included."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from threadpoolctl import threadpool_info

from secateur.core import threads
from secateur.core.artifacts import file_digest
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import TableError, write_table
from secateur.models import kernels
from secateur.stage import contract as stage
from secateur.stage.contract import Job, main, run_stage
from secateur.stage.provenance import device_used

ROOT = Path(__file__).parents[2]
POOL = TABLES["pool"].frame([("q1", "p1", 0, True, False, None, None)])  # any small table would do
# design.md, "A stage". Tokens come with the first stage that asks a language model.
RECORD = {"stage", "experiment", "axes", "config", "code", "inputs", "outputs", "rows"}
RECORD |= {"seeds", "wall_seconds", "cpu_seconds", "peak_bytes", "counts", "device"}
RECORD |= {"versions", "commit", "slurm_job", "warnings", "metrics", "failure"}


def job_of(folder: Path, *tables: str, **changes) -> Job:
    defaults = {
        "rule": "invented",
        "inputs": {},
        "outputs": {name: folder / f"{name}.parquet" for name in tables},
        "record": folder / "run.json",
        "leaves": {"eval.seed": "7", "retriever.top_k": "200"},
        "code": "abc",
        "axes": {"corpus": "toy"},
        "threads": 1,
        "log": folder / "log" / "invented.log",
        "root": ROOT,
    }
    return Job(**defaults | changes)


def record(folder: Path, name: str = "run.json") -> dict:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def writes_pool(cfg, inputs, outputs, ctx):
    outputs["pool"] = POOL
    return {"pooled": 1}


# --- success -------------------------------------------------------------------------------------


def test_outputs_have_no_name_until_the_stage_has_returned_and_the_record_none_before_they_have(tmp_path, monkeypatch):
    seen = []

    def run(cfg, inputs, outputs, ctx):
        assert (cfg.eval.seed, cfg.retriever.top_k, ctx.axes) == (7, 200, {"corpus": "toy"})
        outputs["pool"] = POOL
        seen.append(files(tmp_path) & {"pool.parquet", "run.json"})
        return {}

    def write(path, value):
        seen.append(files(tmp_path))
        written(path, value)

    written = stage.write_json
    monkeypatch.setattr(stage, "write_json", write)
    run_stage(run, job_of(tmp_path, "pool"))
    assert seen == [set(), {"pool.parquet"}]
    assert files(tmp_path) == {"pool.parquet", "run.json"}


def test_the_record_has_every_field_of_the_design(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    source = tmp_path / "in.txt"
    source.write_text("text")

    def run(cfg, inputs, outputs, ctx):
        ctx.warn("a warning")
        ctx.counts |= {"cache_hits": 3}
        return writes_pool(cfg, inputs, outputs, ctx)

    run_stage(run, job_of(tmp_path, "pool", inputs={"files": [source]}))
    found = record(tmp_path)
    assert set(found) >= RECORD
    expected = {"stage": "invented", "axes": {"corpus": "toy"}, "code": "abc", "failure": None, "slurm_job": "4711"}
    expected |= {"config": {"eval.seed": 7, "retriever.top_k": 200}, "seeds": {"eval.seed": 7}}
    expected |= {"inputs": {str(source): file_digest(source)}, "rows": {"pool": 1}, "metrics": {"pooled": 1}}
    expected |= {"counts": {"cache_hits": 3}, "warnings": ["a warning"]}
    assert {name: found[name] for name in expected} == expected
    assert found["peak_bytes"] > 0
    assert found["versions"]["polars"] == pl.__version__


@pytest.mark.parametrize(
    ("build", "started", "device"), [("2.11.0", True, "cuda"), ("2.11.0", False, "cpu"), ("2.11.0+cpu", False, "cpu")]
)
def test_the_record_names_the_device_that_was_used_and_not_the_driver(tmp_path, monkeypatch, build, started, device):
    monkeypatch.setattr(kernels.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(kernels, "version", lambda name: build)

    def run(cfg, inputs, outputs, ctx):
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: started)))
        assert ctx.device == ("cpu" if build.endswith("+cpu") else "cuda")
        return {}

    run_stage(run, job_of(tmp_path))
    assert record(tmp_path)["device"] == device
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert device_used() == "cpu"


def test_shards_of_an_input_are_one_table_in_their_order(tmp_path):
    shards = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for n, path in enumerate(shards):
        write_table(TABLES["pool"], POOL.with_columns(question_id=pl.lit(f"q{n}")), path)

    def run(cfg, inputs, outputs, ctx):
        assert inputs["pool"]["question_id"].to_list() == ["q0", "q1"]
        return {}

    run_stage(run, job_of(tmp_path, inputs={"pool": shards}))


# --- failure -------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("no such luck"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_failing_stage_leaves_its_failure_and_nothing_else(tmp_path, error):
    def run(cfg, inputs, outputs, ctx):
        outputs["pool"] = POOL
        raise error

    with pytest.raises(type(error)) as failed:
        run_stage(run, job_of(tmp_path, "pool"))
    assert files(tmp_path) == {"failure.json"}
    assert failed.traceback  # held on purpose: what garbage collection cleans up is not cleaned up by the stage
    found = record(tmp_path, "failure.json")
    assert found["failure"].startswith(f"{type(error).__name__}: {error}".strip(": "))
    assert set(found) >= RECORD


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ({"pool": pl.concat([POOL, POOL])}, "key question_id, passage_id duplicated"),
        ({"pool": POOL, "selections": POOL}, "column scorer missing"),  # nor is the good one beside it kept
    ],
)
def test_an_output_that_breaks_its_declaration_gives_no_record(tmp_path, frames, said):
    def run(cfg, inputs, outputs, ctx):
        for name, frame in frames.items():
            outputs[name] = frame
        return {}

    with pytest.raises(TableError, match=said):
        run_stage(run, job_of(tmp_path, *frames))
    assert files(tmp_path) == {"failure.json"}


@pytest.mark.parametrize("taken", [(), ("selections",)], ids=["not taken", "taken"])
def test_a_declared_output_that_was_not_written_is_an_error_although_its_path_was_taken(tmp_path, taken):
    def run(cfg, inputs, outputs, ctx):
        for name in taken:
            outputs.path(name)
        return writes_pool(cfg, inputs, outputs, ctx)

    with pytest.raises(RuntimeError, match="without writing selections"):
        run_stage(run, job_of(tmp_path, "pool", "selections"))
    assert files(tmp_path) == {"failure.json"}


def test_an_input_of_another_version_is_refused_before_anything_is_written(tmp_path):
    other = tmp_path / "other.parquet"
    write_table(TABLES["pool"], POOL, other)

    def run(cfg, inputs, outputs, ctx):
        inputs["selections"]

    with pytest.raises(TableError, match="holds pool@"):
        run_stage(run, job_of(tmp_path, "pool", inputs={"selections": [other]}))
    assert files(tmp_path) == {"other.parquet", "failure.json"}


# --- threads --------------------------------------------------------------------------------------

ASKED_FOR_TWO = dict.fromkeys(threads.THREADS + ("POLARS_MAX_THREADS",), "2")
POOLS = """
import json, os, sys
from pathlib import Path
import secateur.stage.contract  # first, as a rule's script has it
{before}
from test_stage_contract import POOL, job_of, run_stage
from threadpoolctl import threadpool_info

def run(cfg, inputs, outputs, ctx):
    import faiss, numpy, openvino, polars, scipy.linalg, sklearn.cluster, torch
    outputs["pool"] = POOL
    pools = {{pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}}
    pools |= {{"torch": torch.get_num_threads(), "faiss": faiss.omp_get_max_threads(), "polars": polars.thread_pool_size()}}
    return {{"pools": json.dumps(pools)}}

run_stage(run, job_of(Path({folder!r}), "pool"))
"""


def run_script(script: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, which can import these tests."""
    path = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "workflow", ROOT, Path(__file__).parent)))}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=os.environ | path | env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("before", ["", "import torch, scipy.linalg, sklearn.cluster, faiss"])
def test_a_stage_has_one_thread_whatever_the_environment_says_and_whenever_a_library_is_loaded(tmp_path, before):
    done = run_script(POOLS.format(folder=str(tmp_path), before=before), **ASKED_FOR_TWO)
    assert done.returncode == 0, done.stderr
    pools = json.loads(record(tmp_path)["metrics"]["pools"])
    assert {"torch", "faiss", "polars"} < set(pools)
    assert {name: threads for name, threads in pools.items() if threads != 1} == {}


def test_a_stage_sees_its_jobs_threads_and_leaves_the_environment_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    seen = []

    def run(cfg, inputs, outputs, ctx):
        seen.extend(os.environ[name] for name in threads.THREADS)
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return writes_pool(cfg, inputs, outputs, ctx)

    run_stage(run, job_of(tmp_path, "pool"))
    assert {str(threads) for threads in seen} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert "MKL_NUM_THREADS" not in os.environ


# --- what a rule's script calls -------------------------------------------------------------------


class Named(dict):
    __getattr__ = dict.__getitem__


def snakemake(folder: Path) -> SimpleNamespace:
    own = {"rule": "invented", "input": Named(), "wildcards": Named(corpus="toy"), "threads": 1}
    own["output"] = Named(pool=str(folder / "pool.parquet"), record=str(folder / "run.json"))
    own["params"] = Named(eval_seed="eval.seed=7", code="code=abc")
    return SimpleNamespace(**own, log=[str(folder / "log" / "invented.log")])


@pytest.mark.parametrize(
    ("error", "said", "has_traceback"),
    [
        (SecateurError("no such folder. Fix: correct it"), "no such folder. Fix: correct it", False),
        (OSError(errno.ENOSPC, "No space left", "a.parquet"), "a.parquet: No space left. Fix: free space", True),
    ],
    ids=["the user's", "the file system's"],
)
def test_a_problem_that_can_be_mended_ends_a_script_with_one_message_and_code_2(
    tmp_path, capsys, error, said, has_traceback
):
    def run(cfg, inputs, outputs, ctx):
        raise error

    with pytest.raises(SystemExit) as ended:
        main(run, snakemake(tmp_path))
    assert ended.value.code == 2
    found = record(tmp_path, "failure.json")
    assert (found["config"], found["code"], found["axes"]) == ({"eval.seed": 7}, "abc", {"corpus": "toy"})
    message = capsys.readouterr().err.strip()
    assert message.startswith(f"invented: {said}")
    assert len(message.splitlines()) == 1
    assert ("Traceback" in Path(snakemake(tmp_path).log[0]).read_text()) == has_traceback
