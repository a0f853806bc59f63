"""A small sample of what `make chaos` does, the same each time: some kills, and each fault of a stage once or twice."""

import json
import os
import sys

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.slow

STAGES = ("rank_passages", "build_runs")  # no language model is read
KILLS = 12


@pytest.fixture(scope="module")
def told(smoke, tmp_path_factory):
    """What a run of the harness says, in a process of its own: it forks, and has to have computed nothing before."""
    place = tmp_path_factory.mktemp("chaos") / "chaos.json"
    asked = ["--run", str(smoke.root), "--seed", "1", "--kills", str(KILLS), "--scenes", "0", "--json", str(place)]
    asked += [word for stage in STAGES for word in ("--stage", stage)]
    path = os.pathsep.join((str(smoke.root / "workflow"), str(ROOT)))
    done = smoke.run(sys.executable, "-m", "tests.chaos", *asked, PYTHONPATH=path)
    return done, json.loads(place.read_text()) if place.exists() else None


def test_whatever_is_done_to_a_stage_it_gives_the_right_answer_or_says_clearly_why_not(told):
    done, found = told
    assert done.returncode == 0, done.stdout + done.stderr
    assert [one for one in found["trials"] if one["verdict"] == "wrong"] == []


def test_stages_were_killed_before_during_and_after_their_commit(told):
    found = {row["fault"]: row for row in told[1]["faults"]}
    kills = {when: found[f"killed {when} commit"]["kills"] for when in ("before", "during", "after")}
    assert sum(kills.values()) >= KILLS
    assert min(kills.values()) >= KILLS // 4


def test_a_run_says_which_faults_it_could_not_bring_about(told):
    for row in told[1]["faults"]:
        assert row.get("skipped") or row["tries"] > 0


# --- a run that fails once, and is repeated ----------------------------------------------------------


def _harness(smoke, place, *asked: str):
    """What trials of the harness give, and the table that it prints."""
    path = os.pathsep.join((str(smoke.root / "workflow"), str(ROOT)))
    words = ("--run", str(smoke.root), "--kills", "0", "--tries", "0", "--json", str(place), *asked)
    done = smoke.run(sys.executable, "-m", "tests.chaos", *words, PYTHONPATH=path)
    return done, json.loads(place.read_text()) if place.exists() else None


def test_a_run_that_fails_once_and_is_repeated_gives_the_figures_of_its_settings(smoke, tmp_path):
    sample = ("--scenes", "1", "--fault", "of an input fails", "--fault", "output fails", "--fault", "bit flips; it")
    done, found = _harness(smoke, tmp_path / "chaos.json", *sample, "--change", "eval.claim=[64]")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [trial["verdict"] for trial in found["trials"]] == ["right answer"] * 3
    assert "An old figure was printed in 0 of 3 trials." in done.stdout


KILLER = """
import os, runpy, signal
run = runpy.run_path
def killed(path, *rest):  # as the kernel does where memory ends
    if path.endswith("compare_variants.py"):
        os.kill(os.getpid(), signal.SIGKILL)
    return run(path, *rest)
runpy.run_path = killed
"""


def test_after_a_job_was_killed_no_figure_of_the_settings_before_is_printed(rerun, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    path = os.pathsep.join((str(tmp_path), str(rerun.root / "workflow"), str(rerun.root)))
    before, changed = rerun.secateur("table", "smoke").stdout, ("--set", "eval.claim=[64]")
    run = ("run", "smoke", "--cores", "2", *changed)
    assert rerun.secateur(*run, PYTHONPATH=path).returncode != 0
    refused = rerun.secateur("table", "smoke")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "eval.claim=[64]" in refused.stderr and "Fix: " in refused.stderr
    again = rerun.secateur(*run)
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.startswith("3 jobs in ")  # the comparison, the report, the record for MLflow
    assert rerun.secateur("table", "smoke").stdout not in ("", before)
