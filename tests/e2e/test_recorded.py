"""Figures of the papers that stand in records: seconds for a question, bytes and tokens of an index."""

import json

import pytest

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import write_table
from secateur.report.recorded import RECORDED, recorded

WHERE = ("smoke", "toy_documents_smoke")


def record(stage: str, seconds: float, questions: int, **counts: int) -> dict:
    return {"stage": stage, "wall_seconds": seconds, "metrics": {"questions": questions}, "counts": counts}


RANKED = [record("rank_by_graph", 6.0, 3), record("build_codebook", 50.0, 3)]
ANSWERED = [record("answer_questions", 4.0, 1, answered_anew=1), record("answer_questions", 2.0, 1, answered_anew=1)]
FROM_CACHE = record("answer_questions", 0.1, 2, answered_anew=0)


@pytest.mark.parametrize(
    ("behind", "seconds"),
    [
        (RANKED + ANSWERED, 6 / 3 + 6 / 2),  # each stage by its own questions, shards together
        ([*RANKED, FROM_CACHE], None),
        ([record("recall_context", 8.0, 2), FROM_CACHE], 8 / 2 + 0.05),  # a session answers while it recalls
        (RANKED, None),
    ],
)
def test_seconds_for_a_question_are_those_of_the_stages_that_serve_it(tmp_path, behind, seconds):
    assert RECORDED["seconds"](tmp_path, behind) == (None if seconds is None else pytest.approx(seconds))


def test_an_index_that_failed_has_no_size(tmp_path):
    costs = dict.fromkeys(TABLES["peer_costs"].columns, 1) | {"peer": "p", "service": "s"}
    for name, failure in (("whole", None), ("failed", "it ended")):
        rows = [costs | {"seconds": 1.0, "failure": failure}]
        write_table(TABLES["peer_costs"], TABLES["peer_costs"].frame(rows), tmp_path / f"{name}.parquet")
    for name, size in (("whole", 1.0), ("failed", None)):
        behind = [{"stage": "index_peer", "outputs": {"peer_costs": f"{name}.parquet"}}]
        assert RECORDED["index_bytes"](tmp_path, behind) == size


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
