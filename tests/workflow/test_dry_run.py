"""A dry run says which variants an edit adds and removes."""

import json
import re

import pytest
from tests.support.project import in_folder

from secateur.planning import earlier, plan

ROW = {"file": "f", "axes": {}, "listed": ""}


def told(project, *config: str) -> str:
    done = project.snakemake("-n", "--config", "experiment=mine", *config)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


@pytest.fixture
def mine(project):
    """A copy with an experiment of one system, of which a run with two other variants is told."""
    text = "title: T\ndatasets: [toy_documents]\nsystems: [title_zsum]\naxes: {}\nexclude: [{order: aware}]\n"
    (project.root / "conf/experiment/mine.yaml").write_text(text)
    return project


def ran(project, *variants: tuple[str, str | None]) -> None:
    rows = [ROW | {"dataset": "toy_documents", "system": system, "order": order} for system, order in variants]
    path = project.root / "results/experiments/mine/run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"config": {"extra.variants": rows}}))


def test_a_dry_run_of_an_axis_on_the_command_line(mine):
    axes = 'overrides=["experiment.axes.assembly=[{form:dense},lines]"]'  # as `make run OVERRIDES=...` passes it on
    assert "adds" not in told(mine, axes)  # nothing ran yet
    ran(mine, ("title_zsum", "blind"), ("rankers", None))
    added = "toy_documents title_zsum:dense blind, toy_documents title_zsum:lines blind"
    assert f"\nmine adds: {added}; removes: toy_documents rankers\n" in told(mine, axes)
    ran(mine, ("title_zsum", "blind"))
    found = plan.variants(mine.root / "conf", "mine")
    assert earlier.changes(found, mine.root / "results/experiments/mine/run.json") == ""


def test_a_plan_in_a_new_clone_counts_every_rule_by_a_reference_machine(untouched):
    said = untouched.secateur("plan", "quickstart")
    assert said.returncode == 0, said.stderr
    *rows, _, told = said.stdout.splitlines()
    assert rows[0].split() == ["rule", "jobs", "CPU", "s", "each", "CPU", "s", "tokens", "rests", "on"]
    assert all(row.endswith("shipped coefficients") for row in rows[1:])
    (minutes,) = re.findall(r"about ([\d.]+) minutes of one core", told)
    assert float(minutes) > 1
    assert re.search(r", by shipped coefficients \(\d+\); a language model reads", told)
    assert "unknown" not in told


def test_a_plan_takes_a_folder_of_ones_own(untouched):
    own = [part for change in in_folder("data/toy/dialogue") for part in ("--set", change)]
    said = untouched.secateur("plan", "custom_dialogue", *own, "--set", "dataset.grown=[temporal]")
    assert said.returncode == 0, said.stderr
    assert "a language model reads at most 1,224 pairs of question and passage" in said.stdout
    assert "unknown" not in said.stdout
    assert re.search(r"^select_greedily +2 +\d", said.stdout, re.M)
    without = untouched.secateur("plan", "custom_dialogue")
    assert (without.returncode, without.stdout) == (2, "")
    assert "no folder given" in without.stderr
    assert "Traceback" not in without.stderr
