"""Where a system chooses nothing it has found nothing, and what nobody knows counts for nothing."""

from types import SimpleNamespace

import polars as pl
import pytest
from scripts.evaluate_contexts import _rows
from scripts.evaluate_selection import _with_zeros

import secateur
from secateur.contexts.piece import Context, Row
from secateur.contexts.table import IMPORTED, context_rows, reads, unmade
from secateur.core.tables.catalog import TABLES
from secateur.datasets.formats._objects import corpus_of
from secateur.datasets.reading import Problems
from secateur.evaluation.comparison import Row as Compared
from secateur.evaluation.comparison import pairs
from secateur.evaluation.evidence import Gold

MILL = "Alder Ltd bought the mill."
GOLDS = {f"q{n}": Gold("Who bought what?", {"p": MILL}, (MILL,)) for n in range(3)}
CFG = SimpleNamespace(
    eval=SimpleNamespace(metrics=({"kind": "evidence_recall", "min_content": 0.5}, "token_recall")),
    dataset=SimpleNamespace(metrics=()),
)


def made(question: str, *budgets: int) -> list[tuple]:
    context = Context([Row(MILL, "p", whole=True)], 6)
    return list(context_rows(question, IMPORTED, False, IMPORTED, dict.fromkeys(budgets, context)))


def test_a_text_made_elsewhere_that_is_too_long_for_a_budget_is_no_context_without_evidence():
    """q0 has a short text, q1 one that fits the larger budget alone, q2 none at all, which is a context of nothing."""
    contexts = TABLES["contexts"].frame([*made("q0", 64, 256), *made("q1", 256)])
    assert unmade(contexts, (64, 256)) == {("q1", 64)}
    known = {64: ["q0", "q2"], 256: ["q0", "q1", "q2"]}
    rows = _rows(CFG, GOLDS, dict(reads(contexts)), known, True, IMPORTED, None)
    found = {(question, name): value for question, name, value in rows}
    recall = {place: value for place, value in found.items() if place[1].startswith("evidence_recall@")}
    assert recall == {
        **{("q0", "evidence_recall@64"): 1.0, ("q2", "evidence_recall@64"): 0.0},
        **{("q0", "evidence_recall@256"): 1.0, ("q1", "evidence_recall@256"): 1.0, ("q2", "evidence_recall@256"): 0.0},
    }
    assert found["q0", "token_recall_floor@64"] == 0.0  # the next one of this budget is q2's
    assert found["q2", "token_recall_floor@64"] == 1.0
    alone = _rows(CFG, GOLDS, dict(reads(contexts)), {64: ["q0"], 256: ["q0", "q1"]}, True, IMPORTED, None)
    floors = {(question, name) for question, name, _ in alone if "floor" in name}
    assert floors == {("q0", "token_recall_floor@256"), ("q1", "token_recall_floor@256")}


def test_contexts_that_are_not_made_elsewhere_are_all_known():
    row = next(iter(made("q0", 64)))
    assert unmade(TABLES["contexts"].frame([(row[0], "bm25", *row[2:5], "whole", *row[6:])]), (64, 256)) == set()


def test_a_question_that_a_plain_scorer_ranks_nothing_for_scores_0():
    rows = [("q0", "mine", "f1_at_gold", 1.0), ("q0", "mine+answer", "f1_at_gold", 1.0)]
    figures = pl.DataFrame(rows, ["question_id", "scorer", "metric", "value"], orient="row")
    gold = pl.DataFrame({"question_id": ["q0", "q1"], "passage_id": ["p0", "p1"]})
    found = _with_zeros(figures, gold, pl.Series(["mine"]))
    assert found.rows() == [*rows, ("q1", "mine", "f1_at_gold", 0.0)]


@pytest.mark.parametrize("blank", ["", " \n", [], [("p", "")]])
def test_a_blank_context_of_the_library_is_an_empty_one(blank):
    asked = {"q0": "Who bought the mill?", "q1": "Who bought the mill?"}
    gold = {name: {"p": MILL} for name in asked}
    found = secateur.evaluate({"q0": [("p", MILL)], "q1": blank}, asked, gold)
    recall = dict(found.filter(metric="evidence_recall").select("question_id", "value").iter_rows())
    assert recall == {"q0": 1.0, "q1": 0.0}


def test_a_score_is_compared_with_its_matched_baseline_under_the_same_options():
    names = [(system, scorer) for system in ("ecs", "ecs:other") for scorer in ("with", "without")]
    rows = [Compared(system, None, scorer, False, (("ranker", system),), "", True) for system, scorer in names]
    found = pairs(rows, {row.key: 0.5 for row in rows}, (), {"with": ("without",)})
    expected = [("ecs", "with", "ecs", "without"), ("ecs:other", "with", "ecs:other", "without")]
    assert [(a.system, a.scorer, b.system, b.scorer) for a, b, _ in found] == expected


@pytest.mark.parametrize(("docs", "moved"), [(("s2", "s10"), 1), (("s02", "s10"), 0)])
def test_conversations_that_are_not_read_as_they_stand_are_counted(tmp_path, docs, moved):
    objects = [("line", {"id": d, "doc": d, "text": "Hello.", "speaker": "Ann"}) for d in docs]
    counts = corpus_of(objects, Problems(tmp_path, "")).counts
    assert counts.get("conversations_out_of_file_order", 0) == moved
