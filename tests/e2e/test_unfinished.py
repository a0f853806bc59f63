"""The page of an experiment that has not ended: what there is, what is missing, and nothing is run for it."""

import re
import shutil

import pytest


@pytest.fixture(scope="module")
def stopped(smoke, tmp_path_factory):
    """A run that was stopped before `beam` was measured, one graph was, and a dialogue's turns were selected."""
    project = smoke.copied(tmp_path_factory.mktemp("stopped") / "project")
    documents = project.root / "results/toy_documents_smoke/toy_documents_smoke"
    for folder in ("evidence", "answer_gain"):
        for path in (documents / folder).rglob("*.beam"):
            shutil.rmtree(path)
    for name in ("samples", "policies", "measures"):
        for path in documents.parent.glob(f"*/{name}"):
            shutil.rmtree(path)
    shutil.rmtree(project.root / "results/experiments/smoke")
    return project


def test_the_page_shows_what_there_is_and_says_what_is_missing(stopped):
    before = {path for path in stopped.artifacts() if "/experiments/" not in path}
    said = stopped.secateur("report", "smoke")
    assert said.returncode == 0, said.stderr
    place = stopped.root / said.stdout.strip()
    assert place == stopped.root / "results/experiments/smoke/unfinished/report.html"
    page = place.read_text(encoding="utf-8")
    told = re.search(r'id="unfinished">.*?</details>', page, re.S)[0]
    assert "Not finished: 2 rows are missing or lack figures." in told
    assert "make run EXPERIMENT=smoke" in told
    missing = re.findall("<li>(.*?)</li>", told)
    assert missing == [
        "toy_documents_smoke · beam · blind: evidence, answer_gain",
        "toy_documents_smoke · policy · blind: policies",
    ]
    assert "rankers · minilm" in page
    assert {path for path in stopped.artifacts() if "/experiments/" not in path} == before


def test_figures_of_other_settings_are_missing(stopped):
    said = stopped.secateur("report", "smoke", "--set", "rankers.keep=7")
    assert said.returncode == 0, said.stderr
    told = re.search(r'id="unfinished">.*?</details>', (stopped.root / said.stdout.strip()).read_text("utf-8"), re.S)[0]
    missing = re.findall("<li>(.*?)</li>", told)
    assert any("· rankers" in row for row in missing), missing
    assert not any("· sessions" in row for row in missing), missing


@pytest.mark.slow
def test_what_is_whole_is_said_to_lack_nothing(smoke, tmp_path):
    project = smoke.copied(tmp_path / "project")
    said = project.secateur("report", "smoke")
    assert said.returncode == 0, said.stderr
    assert 'id="unfinished"' not in (project.root / said.stdout.strip()).read_text(encoding="utf-8")


def test_of_an_experiment_of_which_nothing_is_made_there_is_no_page(untouched):
    said = untouched.secateur("report", "smoke")
    assert said.returncode == 2
    assert "rows has figures yet. Fix: make run EXPERIMENT=smoke" in said.stderr
    assert "Traceback" not in said.stderr
