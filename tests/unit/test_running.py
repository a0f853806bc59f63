"""The progress of a run, read from events, and what `secateur run` says when a run has failed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from secateur.cluster import submit
from secateur.commands import running
from secateur.core.errors import SecateurError
from secateur.core.events import EVENTS, emit, event_file, tell
from secateur.planning.progress import Progress, failure

RECORDS = {"prepare_corpus": "results/a/run.json", "build_report": "results/b/run.json"}
STAGE_FAILURE = "SecateurError: mine/passages.jsonl line 2: no JSON. Fix: correct it"
PLANNED = {"event": "planned", "jobs": [["prepare_corpus", "results/c/run.json"], *map(list, RECORDS.items())]}
MLFLOW = {"event": "message", "text": "MLflow at http://here: down. Nothing is lost. Fix: start the server"}
SLURM = {"event": "message", "text": "SLURM: AssocMaxSubmitJobLimit. The next job waits"}
REFUSED = {"event": "message", "text": "conf/lm/x.yaml: 2 problems\n  window: must be positive. Fix: correct it"}


def of_job(event: str, rule: str, jobid: int, **fields) -> dict:
    output = [RECORDS[rule]] if rule in RECORDS else []
    return {"event": event, "rule_name": rule, "jobid": jobid, "output": output, **fields}


def finished(jobid: int) -> dict:
    return {"event": "job_finished", "job_id": jobid}


def error(kind: str, text: str) -> dict:
    return {"event": "error", "exception": kind, "msg": text}


RUN = [
    {"event": "run_info", "stats": {"prepare_corpus": 2, "build_report": 1, "all": 1, "total": 4}},
    PLANNED,
    of_job("job_info", "prepare_corpus", 4),
    of_job("job_info", "build_report", 2),
    finished(4),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running.LOG.parent.mkdir()
    return tmp_path


def read(*events: dict, started: float = 0.0) -> Progress:
    """The progress that events tell."""
    progress = Progress(started)
    messages = [message for message in map(progress.read, events) if message]
    assert messages == progress.messages
    return progress


def failed_stage(text: str, rule: str = "prepare_corpus") -> None:
    """The record of a stage that has failed."""
    path = Path(RECORDS[rule]).with_name("failure.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"failure": text}))


def test_messages_are_those_of_stages_that_failed_in_this_run_of_mlflow_and_of_slurm(folder):
    failed_stage(STAGE_FAILURE)
    broken = of_job("job_error", "prepare_corpus", 5)
    progress = read(*RUN, of_job("job_error", "build_report", 2), broken, MLFLOW, SLURM)
    told = "prepare_corpus: mine/passages.jsonl line 2: no JSON. Fix: correct it"
    assert progress.messages == [told, MLFLOW["text"], SLURM["text"]]
    assert progress.running == {}
    assert read(*RUN, broken, started=time.time() + 1).messages == []  # of an earlier run
    failed_stage("ValueError: of the stage")
    assert read(broken).messages == ["prepare_corpus: ValueError: of the stage"]


def test_forecast_progress_and_messages_of_jobs_are_shown_and_what_stops_a_run_before_them_is_not(folder, capsys):
    def shown(*events: dict) -> str:
        running._show(events, Progress(), lambda jobs: f"{len(jobs)} jobs to run")
        return capsys.readouterr().err

    expected = ["3 jobs to run", "0 of 3 jobs (planning)", "1 of 3 jobs (done)", MLFLOW["text"]]
    assert shown(*RUN, MLFLOW).splitlines() == expected
    assert shown(REFUSED) == shown(PLANNED | {"jobs": []}) == ""


WRITER = """
import os, time
for part in ('{"event": "mess', 'age", "text": "a"}\\n{"event": "message", "text": "b"}\\n'):
    with open(os.environ["SECATEUR_EVENTS"], "a") as file:
        file.write(part)
    time.sleep(.5)
"""


def test_events_are_read_while_they_are_written_to_the_last_and_in_whole_lines():
    with event_file() as path:
        child = subprocess.Popen([sys.executable, "-c", WRITER], env=os.environ | {EVENTS: str(path)})
        followed = running._followed(child, path)
        assert next(followed)["text"] == "a"
        assert child.poll() is None
        assert [event["text"] for event in followed] == ["b"]
    assert not path.exists()


def test_a_message_is_printed_and_told_without_secrets_and_no_file_of_events_is_made_anew(folder, monkeypatch, capsys):
    monkeypatch.setenv(EVENTS, "events.jsonl")
    tell("nobody reads")
    assert not Path("events.jsonl").exists()
    Path("events.jsonl").touch()
    tell("\nhttp://me:password@host: down\n")
    emit("planned", jobs=[("a", Path("b"))])
    submit._log(SLURM["text"])  # from the process that submits
    monkeypatch.setenv(EVENTS, "")
    tell("nobody is to hear")
    lines = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    text = "http://***@host: down"
    assert lines == [{"event": "message", "text": text}, {"event": "planned", "jobs": [["a", "b"]]}, SLURM]
    assert capsys.readouterr().err == f"nobody reads\n\n{text}\n\nnobody is to hear\n"


def ended(*events: dict, output: str = "") -> str:
    """What a run ends with after events and an output."""
    running.LOG.write_text(output)
    error = running._failure(read(*events), 1, "secateur report mine")
    assert isinstance(error, SecateurError)
    return str(error)


def test_a_failed_run_names_what_is_done_the_page_and_the_log_and_snakemakes_words_where_no_stage_said_why(folder):
    failed, output = of_job("job_error", "prepare_corpus", 5), "Traceback (most recent call last):\n\nValueError: x\n"
    rest = "finished jobs are kept; `secateur report mine` shows them. Log: logs/snakemake.log"
    quoted = f"Traceback (most recent call last):\nValueError: x\nstopped after 1 of 3 jobs (exit code 1); {rest}"
    assert ended(*RUN, failed, output=output) == quoted
    assert ended(*RUN, failed, SLURM, MLFLOW, output=output) == quoted  # shown, but no reason
    failed_stage(STAGE_FAILURE)
    assert ended(*RUN, failed, output=output) == f"stopped after 1 of 3 jobs, for the reason above; {rest}"


def test_the_page_of_a_run_is_asked_for_as_the_run_was():
    said = running._report_command("custom@20", ["ecs.pool=8", "eval.budgets=[64,128]"])
    assert said == "secateur report custom@20 --set ecs.pool=8 --set 'eval.budgets=[64,128]'"


def test_what_stops_a_run_before_its_jobs_stands_by_itself(folder):
    broken = error("WorkflowError", "WorkflowError:\nno such profile")
    assert ended(REFUSED, broken, output="Building DAG of jobs...\n") == REFUSED["text"]
    assert ended(broken, output="Building DAG of jobs...\n") == broken["msg"]
    assert ended(output="usage: snakemake\n\nerror: no such option\n") == "usage: snakemake\nerror: no such option"
    assert "Fix: secateur doctor" in ended()


def test_what_the_file_system_refuses_snakemake_is_no_traceback(folder):
    text = "Traceback:\n    os.makedirs(self.path)\nPermissionError: [Errno 13] Permission denied: '/mine/.snakemake'\n"
    for found in (failure([], [error("PermissionError", text)], ""), failure([], [], text)):
        assert isinstance(found, PermissionError)
        assert found.filename == "/mine/.snakemake"
    full = failure([], [error("OSError", "OSError: [Errno 28] No space left on device\n")], "")
    assert isinstance(full, OSError)
    assert full.filename is None
