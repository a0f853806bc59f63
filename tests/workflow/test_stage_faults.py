"""What a stage says of a signal, a full disk, a changed input, an earlier attempt."""

import errno

import polars as pl
import pyarrow.parquet as pq
import pytest
from test_stage_contract import POOL, files, job_of, record, run_script, writes_pool

from secateur.core.errors import SecateurError, Unusable, refused
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.stage.contract import record_kill, run_stage

SIGNALLED = """
import os, signal
from test_stage_contract import POOL, Path, job_of, run_stage
from types import SimpleNamespace
from secateur.stage import contract

def run(cfg, inputs, outputs, ctx):
    outputs["pool"] = POOL
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)

contract.job_of = lambda rule, snakemake: job_of(Path({folder!r}), "pool")
contract.main(run, SimpleNamespace(rule="invented"))
"""


def test_a_stage_that_is_told_to_end_says_so_and_leaves_nothing(tmp_path):
    assert run_script(SIGNALLED.format(folder=str(tmp_path))).returncode == 1
    assert files(tmp_path) == {"failure.json"}
    assert record(tmp_path, "failure.json")["failure"].startswith("SystemExit: SIGTERM: cancelled")


def test_bad_input_is_final_and_an_endpoint_that_is_away_is_not(tmp_path):
    def failing(cause):
        def run(cfg, inputs, outputs, ctx):
            raise SecateurError("no") from cause

        with pytest.raises(SecateurError):
            run_stage(run, job_of(tmp_path, "pool"))
        return record(tmp_path, "failure.json")["final"]

    expected = [True, True, False, False]
    assert [failing(cause) for cause in (None, ValueError(), Unusable("status 503"), OSError())] == expected


def test_an_input_that_is_not_what_its_stage_wrote_is_refused_by_name(tmp_path):
    run_stage(writes_pool, job_of(tmp_path / "first", "pool"))
    pool = tmp_path / "first" / "pool.parquet"
    after = job_of(tmp_path / "second", "pool", inputs={"pool": [pool]})
    run_stage(writes_pool, after)
    write_table(TABLES["pool"], POOL.with_columns(rank=pl.lit(1, pl.Int32)), pool)
    with pytest.raises(SecateurError, match=r"first/pool\.parquet: changed since its stage wrote it.*Fix: remove it"):
        run_stage(writes_pool, after)


def test_an_output_without_room_is_named(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "ParquetWriter", full)
    with pytest.raises(OSError, match=r"pool\.parquet") as error:
        run_stage(writes_pool, job_of(tmp_path, "pool"))
    assert refused(error.value).startswith(f"{tmp_path / 'pool.parquet'}: No space left on device. Fix: free space")


def test_an_earlier_attempts_words_stay_in_the_log(tmp_path):
    def failing(cfg, inputs, outputs, ctx):
        raise ValueError("the first attempt")

    job = job_of(tmp_path, "pool")
    with pytest.raises(ValueError, match="first"):
        run_stage(failing, job)
    job.log.unlink()  # Snakemake removes it before each attempt
    run_stage(writes_pool, job)
    assert "the first attempt" in job.log.read_text()
    run_stage(writes_pool, job)
    assert "the first attempt" not in job.log.read_text()


def test_a_job_that_was_killed_gets_the_record_that_it_could_not_write(tmp_path):
    job = job_of(tmp_path, "pool")
    record_kill(job, "SLURM job 7: OUT_OF_MEMORY (it was granted 8000M)", "7")
    found = record(tmp_path, "failure.json")
    expected = ("SLURM job 7: OUT_OF_MEMORY (it was granted 8000M)", "7", False)
    assert (found["failure"], found["slurm_job"], found["final"]) == expected
    assert found["config"] == {"eval.seed": 7, "retriever.top_k": 200}
    run_stage(writes_pool, job)
    assert files(tmp_path) == {"pool.parquet", "run.json"}


def test_no_password_and_no_key_is_written_or_said(tmp_path, monkeypatch):
    """A planted key is looked for in every byte that a stage leaves, log and failure included."""
    monkeypatch.setenv("SECATEUR_API_KEY", "planted-key-0123456789")

    def run(cfg, inputs, outputs, ctx):
        ctx.warn("asked http://user:hunter2-planted@host/v1 with planted-key-0123456789")
        raise SecateurError("http://user:hunter2-planted@host/v1: refused planted-key-0123456789")

    job = job_of(tmp_path, "pool", leaves={"answer.url": '"http://user:hunter2-planted@host/v1"'})
    with pytest.raises(SecateurError):
        run_stage(run, job)
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 2
    assert not any(b"planted" in text for text in written)
    assert record(tmp_path, "failure.json")["config"]["answer.url"] == "http://***@host/v1"
