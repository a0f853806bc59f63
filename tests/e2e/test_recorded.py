"""Figures of the papers that stand in records: seconds for a question, bytes and tokens of an index."""

import json

import pytest

from secateur.report.recorded import recorded

WHERE = ("smoke", "toy_documents_smoke")


def test_seconds_for_a_question_are_those_of_its_jobs(smoke):
    seconds, low, high, n = recorded(smoke.root, *WHERE, "rag_zsum", "seconds")
    found = [json.loads(path.read_text()) for path in (smoke.root / "results").rglob("run.json")]
    answered = [r for r in found if r["stage"] == "answer_questions" and "/zsum/" in str(r["outputs"])]
    assert n == sum(r["metrics"]["questions"] for r in answered) > 0
    assert seconds * n >= sum(r["wall_seconds"] for r in answered) > 0
    assert (low, high) == (None, None)


def test_the_bytes_of_a_graph_are_those_of_its_tables(smoke):
    size, *_ = recorded(smoke.root, *WHERE, "graph_zsum", "index_bytes")
    folders = ("codebook", "runs", "graph")
    stages = ("build_codebook", "build_runs", "consolidate")
    found = [p for of in folders for p in (smoke.root / "results/toy_documents_smoke" / of).rglob("run.json")]
    tables = [json.loads(p.read_text()) for p in found]
    paths = {path for r in tables if r["stage"] in stages for path in r["outputs"].values()}
    assert 0 < size <= sum((smoke.root / path).stat().st_size for path in paths)


@pytest.mark.parametrize(
    ("experiment", "system", "metric"), [("smoke", "graph_zsum", "index_tokens"), ("x", "y", "seconds")]
)
def test_what_was_not_run_or_asks_no_model_has_no_figure(smoke, experiment, system, metric):
    assert recorded(smoke.root, experiment, WHERE[1], system, metric) is None
