"""A small sample of what `make chaos` does, the same each time: some kills, and each fault of a stage once or twice."""

import json
import os
import sys

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.slow

STAGES = ("rank_passages", "build_runs")  # no language model is read
KILLS = 12


def harness(smoke, place, *asked: str):
    """What the harness says, in a process of its own: it forks, and has to have computed nothing before."""
    path = os.pathsep.join((str(smoke.root / "workflow"), str(ROOT)))
    words = ("--run", str(smoke.root), "--json", str(place), *asked)
    done = smoke.run(sys.executable, "-m", "tests.chaos", *words, PYTHONPATH=path)
    return done, json.loads(place.read_text()) if place.exists() else None


@pytest.fixture(scope="module")
def told(smoke, tmp_path_factory):
    stages = [word for stage in STAGES for word in ("--stage", stage)]
    place = tmp_path_factory.mktemp("chaos") / "chaos.json"
    return harness(smoke, place, "--kills", str(KILLS), "--scenes", "0", *stages)


def test_whatever_is_done_to_a_stage_it_gives_the_right_answer_or_says_clearly_why_not(told):
    done, found = told
    assert done.returncode == 0, done.stdout + done.stderr
    assert [one for one in found["trials"] if one["verdict"] == "wrong"] == []


def test_stages_were_killed_before_during_and_after_their_commit(told):
    found = {row["fault"]: row for row in told[1]["faults"]}
    kills = {when: found[f"killed {when} commit"]["kills"] for when in ("before", "during", "after")}
    assert sum(kills.values()) >= KILLS
    assert min(kills.values()) >= KILLS // 4


# --- a run that fails once, and is repeated ----------------------------------------------------------


def test_a_run_that_fails_once_and_is_repeated_gives_the_figures_of_its_settings(smoke, tmp_path):
    sample = ["--kills", "0", "--tries", "0", "--scenes", "1", "--change", "eval.claim=[64]"]
    for scene in ("a kill fails", "broken input fails", "output fails", "output is harmed"):
        sample += ["--fault", scene]
    done, found = harness(smoke, tmp_path / "chaos.json", *sample)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [trial["verdict"] for trial in found["trials"]] == ["right answer"] * 4
