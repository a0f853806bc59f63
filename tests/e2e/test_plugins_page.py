"""docs/plugins.md runs as it stands: its files are written into a copy of the project, and its experiment is run."""

import os
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.support.project import copy_project

from secateur.contexts.table import OWN_LENGTH

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
BLOCKS = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
FOLDER = "results/mine/mine"
pytestmark = pytest.mark.slow  # two minutes; tests/unit/test_plugins.py tries each family in a second


def paths(project) -> str:
    return os.pathsep.join(map(str, (project.root / "workflow", project.root)))


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A copy of the project in which the page's experiment has run up to its figures."""
    project = copy_project(tmp_path_factory.mktemp("plugins") / "project")
    for name, text in BLOCKS:
        path = project.root / name
        assert not path.exists(), f"{name} stands in the project already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (project.root / "mypackage/__init__.py").touch()
    asked = ("results/experiments/mine/metrics.parquet", "results/mine/triples/pattern/0of1/triples.parquet")
    done = project.snakemake(*asked, "--config", "experiment=mine", PYTHONPATH=paths(project))
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def contexts(project, source: str, budget: int) -> dict[str, str]:
    found = pl.read_parquet(project.root / FOLDER / f"contexts/{source}/contexts.parquet")
    rows = found.filter(pl.col("budget") == budget).sort("question_id", "place")
    return dict(rows.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join("")).iter_rows())


def test_every_system_of_the_page_has_figures(mine):
    metrics = pl.read_parquet(mine.root / "results/experiments/mine/metrics.parquet").filter(~pl.col("published"))
    recall = metrics.filter(metric="evidence_recall@512", subset="all")
    found = {(system, order): value for system, order, value in recall.select("system", "order", "value").iter_rows()}
    assert found == dict.fromkeys([(name, "blind") for name in ("mine", "mine_run", "mine_walk", "bm25")], 1)
    at_its_tokens = metrics.filter(metric="evidence_recall@mine_contexts", subset="all")
    assert set(at_its_tokens["system"]) == {"mine", "mine_run", "mine_walk", "mine_contexts", "bm25"}
    assert at_its_tokens.filter(system="mine_contexts")["value"].to_list() == [1.0]


def test_the_metric_is_measured_at_each_budget_and_tested_in_pairs(mine):
    metrics = pl.read_parquet(mine.root / "results/experiments/mine/metrics.parquet")
    own = metrics.filter(pl.col("metric").str.starts_with("reciprocal_place@"), pl.col("subset") == "all")
    by = {(row["system"], row["metric"]): row["value"] for row in own.iter_rows(named=True)}
    assert by["mine_run", "reciprocal_place@512"] == 0.75  # the gold passage stands last, that of q1 second
    assert by["mine", "reciprocal_place@512"] == 0.375  # after the header: second, and fourth
    compared = pl.read_parquet(mine.root / "results/experiments/mine/comparisons.parquet")
    assert "reciprocal_place@claim" in set(compared["metric"])


def test_the_reader_is_known_by_its_file(mine):
    planned = mine.snakemake(
        "-n", "--config", "experiment=mine", "overrides=[system.reader=half]", PYTHONPATH=paths(mine)
    )
    assert planned.returncode == 0, planned.stdout + planned.stderr
    assert "half" in planned.stdout


def test_the_score_sees_the_answer_by_what_it_reads_and_is_a_row_of_its_list(mine):
    asked = "from secateur.ecs.scoring.score import sees_answer as s; print(s('relative'), s('pmi_q'))"
    assert mine.run(sys.executable, "-c", asked).stdout.split() == ["True", "False"]
    planned = mine.snakemake("-n", "--config", "experiment=quickstart", "overrides=[system.turns=relative]")
    assert planned.returncode == 0, planned.stdout + planned.stderr
    assert ".relative." in planned.stdout


def test_the_extractor_read_the_texts(mine):
    triples = pl.read_parquet(mine.root / "results/mine/triples/pattern/0of1/triples.parquet")
    expected = {("Acme", "bought", "Bolt"), ("Bolt", "makes", "nuts")}
    assert set(triples.select("head", "relation", "tail").iter_rows()) == expected


def test_the_ranker_the_reranker_and_the_form_made_the_context(mine):
    made = contexts(mine, "lexical/minilm.mine/overlap/short_first/text/numbered.smollm2", 512)
    assert made["q1"].startswith("What is known:\n[1] Acme bought Bolt in May 2021.\n[2] Before May 2021")


def test_what_was_made_elsewhere_is_read_as_it_is(mine):
    run = contexts(mine, "lexical/minilm.mine/elsewhere/none/text/default.smollm2", 512)
    assert run["q1"] == "Before May 2021 Bolt belonged to the Olsen family.\nAcme bought Bolt in May 2021."
    file = contexts(mine, "imported/mine_contexts.blind/imported/none/text/default.smollm2", OWN_LENGTH)
    assert file["q2"] == "What is known:\nBolt makes nuts, and it employs forty people in Ghent."
