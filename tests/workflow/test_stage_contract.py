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

from secateur.core.artifacts import file_digest
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import TableError, write_table
from secateur.models import kernels
from secateur.stage import contract as stage
from secateur.stage import threads
from secateur.stage.contract import Job, main, run_stage
from secateur.stage.provenance import device_used

ROOT = Path(__file__).parents[2]
POOL = TABLES["pool"].frame([("q1", "p1", 0, True, False, None, None)])  # any small table would do
# design.md, "A stage". Tokens come with the first stage that asks a language model.
RECORD = {"stage", "experiment", "axes", "config", "code", "inputs", "outputs", "rows"}
RECORD |= {"seeds", "wall_seconds", "cpu_seconds", "peak_bytes", "counts", "device"}
RECORD |= {"versions", "commit", "slurm_job", "warnings", "metrics", "failure"}


def job_of(folder: Path, *tables: str, **changes) -> Job:
    """A job of an invented rule with the outputs named."""
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


def test_outputs_have_no_name_until_the_stage_has_returned(tmp_path):
    def run(cfg, inputs, outputs, ctx):
        outputs["pool"] = POOL
        assert "pool.parquet" not in files(tmp_path)
        assert "run.json" not in files(tmp_path)
        return {}

    run_stage(run, job_of(tmp_path, "pool"))
    assert files(tmp_path) == {"pool.parquet", "run.json"}


def test_the_record_is_written_after_every_output_has_its_name(tmp_path, monkeypatch):
    there = []

    def write(path, value):
        there.append((path.name, files(tmp_path)))

    monkeypatch.setattr(stage, "write_json", write)
    run_stage(writes_pool, job_of(tmp_path, "pool"))
    assert there == [("run.json", {"pool.parquet"})]


def test_the_record_has_every_field_of_the_design(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("text")

    def run(cfg, inputs, outputs, ctx):
        ctx.warn("a warning")
        ctx.counts |= {"cache_hits": 3}
        return writes_pool(cfg, inputs, outputs, ctx)

    run_stage(run, job_of(tmp_path, "pool", inputs={"files": [source]}))
    found = record(tmp_path)
    assert set(found) >= RECORD
    assert found["stage"] == "invented"
    assert found["axes"] == {"corpus": "toy"}
    assert found["config"] == {"eval.seed": 7, "retriever.top_k": 200}
    assert found["seeds"] == {"eval.seed": 7}
    assert found["code"] == "abc"
    assert found["inputs"] == {str(source): file_digest(source)}
    assert found["rows"] == {"pool": 1}
    assert found["metrics"] == {"pooled": 1}
    assert found["counts"] == {"cache_hits": 3}
    assert found["warnings"] == ["a warning"]
    assert found["failure"] is None
    assert found["peak_bytes"] > 0
    assert found["wall_seconds"] >= 0
    assert found["versions"]["polars"] == pl.__version__


def test_the_record_names_the_slurm_job(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    run_stage(writes_pool, job_of(tmp_path, "pool"))
    assert record(tmp_path)["slurm_job"] == "4711"


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


def test_a_stage_sees_its_own_settings_and_axes(tmp_path):
    def run(cfg, inputs, outputs, ctx):
        assert (cfg.eval.seed, cfg.retriever.top_k, ctx.axes) == (7, 200, {"corpus": "toy"})
        return writes_pool(cfg, inputs, outputs, ctx)

    run_stage(run, job_of(tmp_path, "pool"))


def test_shards_of_an_input_are_one_table_in_their_order(tmp_path):
    shards = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for n, path in enumerate(shards):
        write_table(TABLES["pool"], POOL.with_columns(question_id=pl.lit(f"q{n}")), path)

    def run(cfg, inputs, outputs, ctx):
        assert inputs["pool"]["question_id"].to_list() == ["q0", "q1"]
        return {}

    run_stage(run, job_of(tmp_path, inputs={"pool": shards}))


# --- failure -------------------------------------------------------------------------------------


def test_a_failing_stage_leaves_its_failure_and_nothing_else(tmp_path):
    def run(cfg, inputs, outputs, ctx):
        outputs["pool"] = POOL
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match="no such luck") as failed:
        run_stage(run, job_of(tmp_path, "pool"))
    assert files(tmp_path) == {"failure.json"}
    assert failed.traceback  # held on purpose: what garbage collection cleans up is not cleaned up by the stage
    found = record(tmp_path, "failure.json")
    assert found["failure"] == "ValueError: no such luck"
    assert set(found) >= RECORD


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ({"pool": pl.concat([POOL, POOL])}, "key question_id, passage_id duplicated"),
        ({"pool": POOL.drop("rank")}, "column rank missing"),
        ({"pool": POOL.with_columns(passage_id=pl.lit(None, pl.String))}, "passage_id null"),
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


def test_an_interrupt_is_recorded_as_a_failure(tmp_path):
    def run(cfg, inputs, outputs, ctx):
        outputs["pool"] = POOL
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_stage(run, job_of(tmp_path, "pool"))
    assert files(tmp_path) == {"failure.json"}


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


@pytest.mark.parametrize("before", ["", "import torch, scipy.linalg, sklearn.cluster, faiss"])
def test_a_stage_has_one_thread_whatever_the_environment_says_and_whenever_a_library_is_loaded(tmp_path, before):
    script = POOLS.format(folder=str(tmp_path), before=before)
    path = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "workflow", ROOT, Path(__file__).parent)))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | path | ASKED_FOR_TWO,
        capture_output=True,
        text=True,
        check=False,
    )
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
    """Snakemake's named lists, as far as `main` uses them."""

    __getattr__ = dict.__getitem__


def snakemake(folder: Path) -> SimpleNamespace:
    output = Named(pool=str(folder / "pool.parquet"), record=str(folder / "run.json"))
    params = Named(eval_seed="eval.seed=7", code="code=abc")
    return SimpleNamespace(
        rule="invented",
        input=Named(),
        output=output,
        params=params,
        wildcards=Named(corpus="toy"),
        threads=1,
        log=[str(folder / "log" / "invented.log")],
    )


def test_a_script_hands_plain_data_to_the_stage(tmp_path):
    main(writes_pool, snakemake(tmp_path))
    found = record(tmp_path)
    assert (found["config"], found["code"], found["axes"]) == ({"eval.seed": 7}, "abc", {"corpus": "toy"})


def test_a_problem_the_user_can_mend_ends_a_script_with_its_message_and_code_2(tmp_path, capsys):
    def run(cfg, inputs, outputs, ctx):
        raise SecateurError("the cat is on the keyboard. Fix: move it")

    with pytest.raises(SystemExit) as ended:
        main(run, snakemake(tmp_path))
    assert ended.value.code == 2
    assert capsys.readouterr().err == "\ninvented: the cat is on the keyboard. Fix: move it\n\n"
    assert "Traceback" not in (tmp_path / "log" / "invented.log").read_text()


def test_what_the_file_system_refuses_a_stage_is_one_message_and_its_log_has_the_rest(tmp_path, capsys):
    def run(cfg, inputs, outputs, ctx):
        raise OSError(errno.ENOSPC, "No space left on device", "results/pool.parquet")

    with pytest.raises(SystemExit) as ended:
        main(run, snakemake(tmp_path))
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("invented: results/pool.parquet: No space left on device. Fix: free space")
    assert len(said.splitlines()) == 1
    assert "Traceback" in Path(snakemake(tmp_path).log[0]).read_text()
