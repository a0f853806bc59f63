"""One command from a folder and systems of one's own to a leaderboard in which they stand."""

import json
import shutil

import polars as pl
import pytest

pytestmark = pytest.mark.slow

RANKER = '''"""Short passages first."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings


def score(settings, group, questions, seed):
    """Minus the length of each passage."""
    return np.tile([-float(len(text)) for text in group.texts], (len(questions.queries), 1))
'''


@pytest.fixture(scope="module")
def evaluated(smoke, tmp_path_factory):
    """(project, the command's words) of a folder with a ranker, a run and contexts of one's own."""
    project = smoke.copied(tmp_path_factory.mktemp("evaluate") / "project")
    folder = shutil.copytree(project.root / "data/toy/documents_smoke", project.root.parent / "my notes")
    (folder.parent / "shortest.py").write_text(RANKER)
    gold = {row["id"]: row["evidence"] for row in map(json.loads, (folder / "questions.jsonl").open())}
    texts = {row["id"]: row["text"] for row in map(json.loads, (folder / "passages.jsonl").open())}
    lines = [f"{q} Q0 {p} 1 {1 / (n + 1)} x\n" for q, passages in gold.items() for n, p in enumerate(passages)]
    (folder.parent / "x.run").write_text("".join(lines))
    question, (passage, *_) = next(iter(gold.items()))
    context = {"question_id": question, "text": texts[passage], "passages": [passage]}
    (folder.parent / "rag.jsonl").write_text(json.dumps(context) + "\n")
    (project.root / "conf/experiment/few.yaml").write_text("defaults: [custom, _self_]\nsystems: [bm25, graph_zsum]\n")
    command = ("evaluate", str(folder), "--name", "mine", "--experiment", "few", "--cores", "1")
    command += ("--ranker", str(folder.parent / "shortest.py"), "--run", str(folder.parent / "x.run"))
    command += ("--contexts", f"myrag={folder.parent / 'rag.jsonl'}")
    done = project.secateur(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return project, command, done.stdout


def test_every_row_stands_in_the_leaderboard_and_ones_own_are_starred(evaluated):
    project, _, said = evaluated
    board = said.partition("mine, order-blind")[2].partition("\nNext")[0]
    for name in ("★ x", "★ shortest", "★ myrag", "bm25", "graph_zsum"):
        assert f"\n  {name} " in board
    assert "about 17 more questions are needed for a verdict" in said  # there are three
    page = (project.root / "results/experiments/mine/report.html").read_text()
    assert "★ myrag" in page
    assert 'aria-label="evidence recall on mine, order-blind"' in page


def test_they_are_paired_and_shown_like_any_other(evaluated):
    project, *_ = evaluated
    pairs = pl.read_parquet(project.root / "results/experiments/mine/comparisons.parquet")
    assert {"shortest", "x", "myrag"} <= set(pairs["system"]) | set(pairs["baseline"])
    compared = project.secateur("compare", "mine", "graph_zsum", "myrag")
    assert compared.returncode == 0, compared.stderr
    for system in ("myrag", "shortest", "x"):
        shown = project.secateur("show", "mine", "doc-q01", "--system", system)
        assert f"{system}, order-blind" in shown.stdout, shown.stderr


def test_the_same_command_runs_nothing_again_and_a_changed_folder_is_read_again(evaluated):
    project, command, _ = evaluated
    assert "no jobs in " in project.secateur(*command).stdout
    questions = project.root.parent / "my notes/questions.jsonl"
    first, *others = questions.read_text().splitlines(keepends=True)
    questions.write_text("".join([first.replace("doc-q01", "first"), *others]))
    refused = project.secateur(*command)
    assert refused.returncode == 2
    assert "unknown question 'doc-q01'" in refused.stderr
    again = project.secateur(*command[: command.index("--run")])
    assert again.returncode == 0, again.stderr
    assert "★ myrag" not in again.stdout
    assert "first" in project.secateur("show", "mine", "first").stdout
