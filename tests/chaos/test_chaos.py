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
