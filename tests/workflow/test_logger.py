"""Snakemake's logger `secateur`: the events of a small workflow, in a dry run, a run, and a run that fails or is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from secateur.core.errors import SecateurError
from secateur.core.events import EVENTS, event_file
from secateur.planning.dry_run import SNAKEMAKE, snakemake
from secateur.planning.progress import Event, Job, Progress, planned_job

SNAKEFILE = """
from secateur.core.events import emit

onstart:
    emit("planned", jobs=[(job.rule.name, job.output.record) for job in workflow.dag.needrun_jobs() if not job.rule.norun])

rule all:
    default_target: True
    input: expand("results/{what}/run.json", what=config["what"].split("-"))

rule make:
    output: table="results/{what}/table", record="results/{what}/run.json"
    message: "Make {wildcards.what}"
    script: "make.py"
"""
SCRIPT = """
import json, os, signal, sys
from pathlib import Path
record = Path(snakemake.output["record"])
if "broken" in str(record):
    failure = {"failure": "SecateurError: mine.jsonl: no JSON. Fix: correct it"}
    record.with_name("failure.json").write_text(json.dumps(failure))
    sys.exit(2)
if "killed" in str(record):
    os.kill(os.getpid(), signal.SIGKILL)
record.with_name("table").touch()
record.touch()
"""
RECORDS = ["results/a/run.json", "results/b/run.json"]


@pytest.fixture
def workflow(tmp_path, monkeypatch) -> Path:
    """A folder with a rule that makes what is asked for, breaks, or is killed."""
    monkeypatch.chdir(tmp_path)
    Path("Snakefile").write_text(SNAKEFILE)
    Path("make.py").write_text(SCRIPT)
    return tmp_path


def options(what: str) -> list[str]:
    return ["--cores", "1", "--quiet", "all", "--executor", "secateur", "--config", f"what={what}"]


def ran(what: str, *more: str) -> tuple[list[Event], Progress]:
    progress = Progress()
    with event_file() as path:
        env = os.environ | {EVENTS: str(path)}
        subprocess.run([*SNAKEMAKE, *options(what), *more], env=env, capture_output=True, check=False)
        events = [json.loads(line) for line in path.read_text().splitlines()]
    for event in events:
        progress.read(event)
    return events, progress


def test_a_dry_run_tells_each_job_with_its_record_its_message_and_its_cause(workflow):
    jobs = [planned_job(event) for event in snakemake("-n", *options("a-b")) if event["event"] == "job_info"]
    expected = [
        Job("make", record, f"Make {what}", "output missing") for what, record in zip("ab", RECORDS, strict=True)
    ]
    assert sorted(filter(None, jobs), key=str) == expected
    assert jobs.count(None) == 1  # Snakemake's target
    assert not Path("results").exists()


def test_a_run_tells_what_is_planned_and_what_has_finished_and_one_without_jobs_nothing(workflow):
    events, progress = ran("a-b")
    assert sorted(job.record for job in progress.jobs) == RECORDS
    assert (progress.done, progress.rule, progress.running, progress.messages) == (2, "make", {}, [])
    kinds = [event["event"] for event in events]
    assert {"workflow_started", "run_info", "job_started", "progress"} <= set(kinds)
    assert kinds.index("planned") < kinds.index("job_info") < kinds.index("job_finished")
    _, nothing = ran("a-b")
    assert (nothing.jobs, nothing.done, nothing.errors) == (None, 0, [])


def test_a_stage_that_fails_or_is_killed_is_told_by_its_reason(workflow):
    _, progress = ran("a-broken-killed", "--keep-going")
    reasons = ["make: its process was ended by SIGKILL", "make: mine.jsonl: no JSON. Fix: correct it"]
    assert sorted(progress.messages) == reasons
    assert (progress.done, progress.running) == (1, {})


def test_snakemakes_own_errors_are_told_by_their_kind(workflow):
    with pytest.raises(SecateurError, match="MissingRuleException"):
        snakemake("-n", *options("a"), "--", "nothing")
    lock = Path(".snakemake/locks/0.output.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(f"{RECORDS[0]}\n")
    _, progress = ran("a")
    assert [error["exception"] for error in progress.errors] == ["LockException"]


def test_the_logger_leaves_snakemakes_own_output_and_writes_nothing_where_nobody_reads(workflow):
    loud = [option for option in options("a") if option not in ("--quiet", "all")]
    for what in ("a", "b"):
        loud[-1] = f"what={what}"
        command = SNAKEMAKE if what == "a" else [sys.executable, "-m", "snakemake"]
        env = {name: value for name, value in os.environ.items() if name != EVENTS}
        done = subprocess.run([*command, *loud], env=env, capture_output=True, text=True, check=True)
        assert f"Job 1: Make {what}\n" in done.stderr
        assert "Finished jobid: 1 (Rule: make)\n" in done.stderr
        assert done.stdout == ""
    assert {path.name for path in workflow.iterdir()} == {"Snakefile", "make.py", "results", ".snakemake"}
