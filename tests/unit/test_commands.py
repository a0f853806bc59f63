"""The command line: tables in the forms that a paper takes, typos, what would run, what can be thrown away."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.refusals import message
from tests.support.tracking_results import FIGURES, HOME, figure, ran, record, table
from typer.testing import CliRunner

from secateur import cli
from secateur.cli import app
from secateur.commands import doctor, runs
from secateur.commands.shared import written
from secateur.core.errors import SecateurError, refused
from secateur.planning import progress
from secateur.planning.cleaning import orphaned
from secateur.planning.progress import planned_job


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project with results of an experiment `tiny`."""
    monkeypatch.chdir(tmp_path)
    Path("Snakefile").touch()
    Path("conf").mkdir()
    ran()
    rows = [figure(f"evidence_recall@{b}", 0.1 * n) for n, b in enumerate((64, 128, 256), 1)]
    table("metrics", [*rows, figure("tokens@64", 60.0)], f"{HOME}/metrics.parquet")
    return tmp_path


def said(*args: str) -> str:
    done = CliRunner().invoke(app, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_rows_are_chosen_sorted_and_counted(project):
    rows = json.loads(said("table", "tiny", "--metric", "evidence_recall", "--sort", "value", "--limit", "2", "--json"))
    assert [row["metric"] for row in rows] == ["evidence_recall@256", "evidence_recall@128"]
    (one,) = json.loads(said("table", "tiny", "--metric", "evidence_recall@64", "--json"))
    assert one["value"] == 0.1


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("csv", "dataset,system,"),
        ("md", "| dataset | system |"),
        ("latex", "% needs \\usepackage{booktabs}\n\\begin{tabular}{lll"),
        ("text", "dataset  "),
    ],
)
def test_a_table_comes_in_the_form_that_is_asked_for(project, form, start):
    text = said("table", "tiny", "--format", form)
    assert text.startswith(start)
    assert text.count("evidence") == 3


def test_latex_takes_the_signs_that_names_have():
    text = written([{"name": "a_b & 50 % #1 {x} ~^\\", "value": 1}], "latex")
    assert r"a\_b \& 50 \% \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{}" in text


@pytest.mark.parametrize(
    ("args", "near"),
    [
        ("table tiny --metric evidence_recal", "did you mean 'evidence_recall'?"),
        ("table tiny --system grpah_zsum", "did you mean 'graph_zsum'?"),
        ("table tiny --sort valeu", "did you mean 'value'?"),
        ("table tinny", "tinny has not been run here. Fix: make run EXPERIMENT=tinny"),
        ("figures tiny --format md", "secateur table tiny"),
        ("ui", "Fix: make run, then make ui."),
    ],
)
def test_a_typo_is_answered_with_the_nearest_name(project, monkeypatch, args, near):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(SecateurError, match=re.escape(near)):
        CliRunner().invoke(app, args.split(), catch_exceptions=False)


PARAMS = "Params have changed since last execution: "


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (f"{PARAMS}Union of exclusive params: before: 'a.top_k=200' now: 'a.top_k=100'", "a.top_k was 200, is 100"),
        ("Input files updated by another job: results/a.parquet", ""),
        ("Updated input files: data/toy/questions.jsonl", "changed since: data/toy/questions.jsonl"),
        (
            f"{PARAMS}before: 'code=a' now: 'code=b'",
            f"its code changed: {', '.join(f'module{n}' for n in range(6))}, and 3 more",
        ),
    ],
)
def test_a_job_of_a_dry_run_is_told_by_its_cause_and_of_changed_code_the_first_few_parts(monkeypatch, reason, cause):
    monkeypatch.setattr(progress, "changed_code", lambda *_: [f"module{n}" for n in range(9)])
    event = {"rule_name": "rank", "rule_msg": "Rank toy", "output": ["a.parquet", "a/run.json"], "reason": reason}
    assert planned_job(event) == progress.Job("rank", "a/run.json", "Rank toy", cause)
    assert planned_job(event | {"rule_name": "all", "output": []}) is None


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder_of_results_stands_for_its_record_and_that_names_its_experiment(project, slash):
    found = runs._experiment_and_file(f"results/toy/triples/openie/0of2{slash}")
    assert found == ("tiny", Path("results/toy/triples/openie/0of2/run.json"))
    assert runs._experiment_and_file(str(project / FIGURES)) == ("tiny", Path(FIGURES))
    expected = ("quickstart", Path("results/toy/not/made.by/any/run.json"))
    assert runs._experiment_and_file("results/toy/not/made.by/any") == expected
    assert runs._experiment_and_file(f"{HOME}/metrics.parquet") == ("tiny", Path(f"{HOME}/metrics.parquet"))
    assert runs._experiment_and_file("tiny") == ("tiny", None)


def test_what_no_experiment_rests_on_is_listed_and_removed_only_when_asked(project, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", "cache")
    old = "results/toy/toy/evidence/old"
    record("evaluate_contexts", old, [f"{old}/question_metrics.parquet"], {})
    Path(f"{old}/question_metrics.parquet").write_bytes(b"old")
    half = Path("results/toy/.passages.parquet.123.tmp")
    half.write_bytes(b"half")
    os.utime(half, (0, 0))
    young = half.with_name(".edges.parquet.124.tmp")  # of a job that may be running
    young.write_bytes(b"young")
    shutil.copytree("results/toy/toy/evidence/contexts", "results/toy/toy/evidence/contexts.bak")
    index = "results/toy/peers/raptor"
    record("index_peer", index, [f"{index}/peer_costs.parquet"], {})
    record("build_runs", "results/other", ["results/other/runs.parquet"], {}, experiment="unfinished")
    found = dict(orphaned(Path(), Path("cache")))
    assert set(found) == {Path(old), half}
    assert set(dict(orphaned(project, Path("cache")))) == {project / old, project / half}  # from elsewhere, the same
    assert "can be deleted" in said("clean")
    assert half.exists()
    assert " MB deleted" in said("clean", "--delete")
    assert not half.exists()
    assert not Path(old).exists()
    assert young.exists()
    assert Path(f"{HOME}/metrics.parquet").exists()
    assert said("clean").startswith("nothing to delete\n")


@pytest.mark.parametrize("args", [["clean", "--delete"], ["plan", "x"], ["run", "x"], ["why", "x"], ["forget", "x"]])
def test_outside_a_clone_nothing_is_done_and_that_is_the_message(project, args):
    Path("Snakefile").unlink()
    before = {*Path().rglob("*")}
    assert "neither a clone nor a workspace of Secateur" in message(
        CliRunner().invoke, app, args, catch_exceptions=False
    )
    assert {*Path().rglob("*")} == before


def test_a_limited_run_is_named_where_the_whole_one_is_missing(project):
    shutil.copytree("results/experiments/tiny", "results/experiments/other@24")
    found = message(CliRunner().invoke, app, ["table", "other"], catch_exceptions=False)
    assert re.search(r"other has not been run here, but other@24 has. Fix: .* or other@24$", found)


def test_a_failure_that_an_experiment_has_finished_without_is_an_orphan(project):
    failure = Path("results/toy/contexts/c2/failure.json")
    failure.parent.mkdir(parents=True)
    times = {"2000-01-01T00:00:00+00:00": {failure}, "2999-01-01T00:00:00+00:00": set()}
    for finished, found in times.items():
        of = {"stage": "import_contexts", "experiment": "tiny", "finished": finished}
        failure.write_text(json.dumps(of | {"outputs": {"contexts": f"{failure.parent}/contexts.parquet"}}))
        assert {path for path, _ in orphaned(Path(), Path("cache"))} == found
    copy = Path("results/copy/contexts/c2")
    shutil.copytree(failure.parent, copy)
    copy.joinpath("failure.json").write_text(failure.read_text().replace("2999", "2000"))
    assert orphaned(Path(), Path("cache")) == []


def test_status_names_what_failed_and_why_and_no_lock_is_to_be_removed_while_a_run_is_driven_from_here(project):
    record("build_codebook", "results/toy/codebook", [], {}, failure="LoaderError: no such file\nmore", metrics={})
    Path(".snakemake/locks").mkdir(parents=True)
    Path(".snakemake/locks/0.input.lock").touch()
    text = said("status")
    for part in ("1 jobs", "LoaderError: no such file\n", "results/toy/codebook/failure.json", "secateur resume"):
        assert part in text
    Path("snakemake").write_text("import time; time.sleep(600)")
    with subprocess.Popen([sys.executable, "snakemake"]) as driver:
        try:
            text = said("status")
            assert f"drivers     1: process {driver.pid}" in text
            assert "secateur resume" not in text
        finally:
            driver.kill()


def test_a_doctor_finds_what_was_broken(project, monkeypatch):
    conf = Path(__file__).parents[2] / "conf"
    Path("conf").rmdir()
    Path("conf").symlink_to(conf)
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=1e10))
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)  # no SLURM, no GPU
    monkeypatch.delenv("SECATEUR_MIRROR", raising=False)
    fine = {name: ok for name, ok, _ in doctor.checks()}
    assert all(fine.values()), fine
    Path("mlflow.db").mkdir()
    Path(".snakemake/locks").mkdir(parents=True)
    Path(".snakemake/locks/0.input.lock").touch()
    monkeypatch.setenv("SECATEUR_MIRROR", "no/such/folder")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    wrong = {name: said for name, ok, said in doctor.checks() if not ok}
    assert set(wrong) == {"mirror", "lock", "mlflow"}
    assert all("Fix:" in text for text in wrong.values())


def ended(monkeypatch, capsys, *args: str) -> str:
    """The one message of a command that must end with code 2."""
    monkeypatch.setattr(sys, "argv", ["secateur", *args])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1
    return said


def test_a_file_in_the_place_of_a_folder_is_named_and_nothing_is_started(project, monkeypatch, capsys):
    shutil.rmtree("results")
    Path("results").write_text("")
    said = ended(monkeypatch, capsys, "track")
    assert re.match(r"results(/ledger)?: (Not a directory|File exists)\. Fix: move it away", said)
    Path("logs").write_text("")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    assert ended(monkeypatch, capsys, "run", "tiny").startswith("logs: File exists. Fix: move it away")


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.EACCES, "give yourself the right"),
        (errno.EROFS, "work in a workspace on"),
    ],
)
def test_what_the_file_system_refuses_is_told_with_the_path_else_with_this_folder(project, number, fix):
    said = os.strerror(number)
    assert refused(OSError(number, said, "docs/results.md")).startswith(f"docs/results.md: {said}. Fix: {fix}")
    assert refused(OSError(number, said)).startswith(f"{Path.cwd()}: {said}")


def test_what_is_refused_without_a_file_is_left_to_the_doctor():
    assert "Fix: `secateur doctor`" in refused(TimeoutError("timed out"))


@pytest.mark.parametrize("broken", ["folder", "text"])
def test_pages_over_a_broken_store_are_refused_without_a_traceback(project, monkeypatch, capsys, broken):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    Path("mlflow.db").mkdir() if broken == "folder" else Path("mlflow.db").write_text("no store at all\n" * 99)
    said = ended(monkeypatch, capsys, "ui")
    assert "delete mlflow.db, then `secateur track --rebuild`" in said
