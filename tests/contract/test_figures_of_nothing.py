"""Where a system chooses nothing it has found nothing, and what nobody knows counts for nothing."""

from types import SimpleNamespace

import polars as pl
import pytest
from scripts.evaluate_contexts import _rows
from scripts.evaluate_selection import _with_zeros

import secateur
from secateur.contexts.piece import Context, Row
from secateur.contexts.table import IMPORTED, OWN_LENGTH, context_rows, reads
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import Row as Compared
from secateur.evaluation.comparison import pairs
from secateur.evaluation.evidence import Gold

MILL = "Alder Ltd bought the mill."
GOLDS = {f"q{n}": Gold("Who bought what?", {"p": MILL}, (MILL,)) for n in range(3)}
CFG = SimpleNamespace(
    eval=SimpleNamespace(metrics=({"kind": "evidence_recall", "min_content": 0.5}, "token_recall")),
    dataset=SimpleNamespace(metrics=()),
)


def test_an_empty_context_made_elsewhere_holds_nothing_and_one_that_is_missing_is_not_measured():
    """q0 has a text, q1 an empty one, q2 none."""
    shown = {"q0": Context([Row(MILL, "p", whole=True)], 6), "q1": Context([Row("")], 0)}
    rows = [context_rows(q, IMPORTED, False, IMPORTED, {OWN_LENGTH: context}) for q, context in shown.items()]
    contexts = TABLES["contexts"].frame([row for own in rows for row in own])
    rows = _rows(CFG, GOLDS, dict(reads(contexts)), list(shown), {OWN_LENGTH: "mine"}, True, IMPORTED, None)
    found = {(question, name): value for question, name, value in rows}
    recall = {place: value for place, value in found.items() if place[1].startswith("evidence_recall@")}
    assert recall == {("q0", "evidence_recall@mine"): 1.0, ("q1", "evidence_recall@mine"): 0.0}
    assert (found["q0", "token_recall_floor@mine"], found["q1", "token_recall_floor@mine"]) == (0.0, 1.0)


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
