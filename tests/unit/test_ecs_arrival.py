"""Selection in order of arrival: utilities under the context so far, and what a threshold lets in."""

import importlib
from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.ranked import ranking_context

from secateur.datasets.schema import passages_frame
from secateur.ecs.reading.judge import judge
from secateur.ecs.reading.pairs import total_logprobs
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.selection.arrival import MOST_AHEAD, Arrivals, in_order

QUESTION = Question("q1", "What had she swallowed?", "half a tennis ball")
PASSAGES = [
    Passage("p0", "June 1994", None, "May"),
    Passage("p1", "half a tennis ball", "Mira"),
    Passage("p2", "Jonas left ."),
    Passage("p3", "half a tennis ball", "Mira"),
]
SIGNED = {"kind": "signed", "length_penalty": 0.002}
FACTUAL = {"kind": "judge", "asked": "factual", "binary": False}
NAN = float("nan")


def new_facts(facts):
    """A utility: how many of a candidate's facts the context lacks."""
    return lambda chosen, candidates: [float(len(facts[n].difference(*(facts[c] for c in chosen)))) for n in candidates]


def one_by_one(utility, count, tau):
    chosen = []
    for n in range(count):
        chosen += [n] if utility(tuple(chosen), [n])[0] > tau else []
    return chosen


def test_a_candidate_that_arrives_first_keeps_out_what_repeats_it():
    facts = [{1}, {1, 2, 3}, {2, 3}, {4}]
    assert in_order(new_facts(facts), 4, 0.0) == [0, 1, 3]
    assert in_order(new_facts(facts[::-1]), 4, 0.0) == [0, 1, 2]  # the last of them, {1}, brings nothing
    assert in_order(new_facts(facts), 4, 1.0) == [1]
    assert in_order(new_facts(facts), 4, 3.0) == []
    assert in_order(lambda chosen, candidates: [NAN] * len(candidates), 4, -np.inf) == []


@given(st.lists(st.sets(st.integers(0, 9), max_size=5), max_size=4 * MOST_AHEAD), st.integers(-1, 5))
def test_reading_ahead_selects_what_reading_one_by_one_does(facts, tau):
    assert in_order(new_facts(facts), len(facts), tau) == one_by_one(new_facts(facts), len(facts), tau)


@given(st.lists(st.floats(-5, 5), max_size=40), st.floats(-5, 5), st.floats(0, 5))
def test_where_the_context_changes_no_utility_a_higher_threshold_selects_a_subset(values, tau, more):
    utility = lambda _, candidates: [values[n] for n in candidates]  # noqa: E731
    low, high = (in_order(utility, len(values), t) for t in (tau, tau + more))
    assert set(high) <= set(low)
    assert low == [n for n, value in enumerate(values) if value > tau]


@pytest.fixture
def arrivals(tiny_lm, ecs):
    return lambda spec, passages=PASSAGES: Arrivals(tiny_lm(), ecs(), QUESTION, passages, spec)


def test_a_utility_is_the_shift_of_the_answer_given_the_context_minus_the_length_penalty(arrivals):
    growing = arrivals(SIGNED)
    lm, under = growing.lm, [PASSAGES[2], PASSAGES[0]]
    with_it, without = total_logprobs(lm, growing.cfg, [QUESTION] * 2, [[*under, PASSAGES[1]], under], [0, 0])
    (tokens,) = lm.encoder.count([PASSAGES[1].text])
    assert growing.utility((2, 0), [1]) == pytest.approx([with_it - without - 0.002 * tokens], abs=1e-4)


def test_a_judge_is_asked_about_the_candidate_alone(arrivals):
    growing = arrivals(FACTUAL)
    verdicts = judge(growing.lm, ["judge_factual"], [QUESTION], PASSAGES, [(0, n) for n in range(4)])
    alone = [verdict["judge_factual"] for verdict in verdicts]
    assert growing.utility((), range(4)) == growing.utility((1, 2), range(4)) == pytest.approx(alone)
    assert growing.select(np.median(alone)) == [n for n in range(4) if alone[n] > np.median(alone)]


def test_the_null_is_a_quantile_of_utilities_under_the_empty_context(arrivals):
    growing = arrivals(SIGNED)
    alone = growing.utility((), range(4))
    assert growing.quantile(PASSAGES, 0.5) == pytest.approx(np.quantile(alone, 0.5), abs=1e-4)
    assert growing.select(growing.quantile(PASSAGES, 1.0)) == []


def test_without_an_answer_no_candidate_joins_by_its_shift(tiny_lm, ecs):
    growing = Arrivals(tiny_lm(), ecs(), Question("q1", "What?"), PASSAGES, SIGNED)
    assert growing.quantile(PASSAGES, 0.95) == np.inf
    assert growing.select(-np.inf) == []


def test_the_stage_selects_in_order_of_arrival_with_and_without_the_answer(tiny_lm, ecs, monkeypatch):
    stage = importlib.import_module("scripts.select_greedily")
    monkeypatch.setattr(stage, "load", lambda *_: tiny_lm())
    passages = passages_frame(
        {"passage_id": f"p{n}", "doc_id": "d", "group_id": "g", "position": n, "session_id": "s", "text": text}
        for n, text in enumerate(["a ball", "June", "tennis", "Jonas"])
    )
    asked = {"group_id": "g", "text": "What?", "answer": "a ball"}
    questions = pl.DataFrame({"question_id": ["q1", "q2"], "position": [0, 1], "type": ["a", "b"]} | asked)
    pool = pl.DataFrame({"question_id": "q1", "passage_id": ["p3", "p0", "p1"], "rank": [0, 1, 2]})
    pool = pool.with_columns(free=pl.col("passage_id") != "p1")
    evidence = pl.DataFrame({"question_id": ["q1", "q2"], "passage_id": ["p0", "p0"]})
    inputs = {"passages": passages, "questions": questions, "pool": pool, "evidence": evidence}
    dataset = SimpleNamespace(first={}, grown=("a",), grown_of=None)
    cfg = SimpleNamespace(dataset=dataset, ecs=ecs(grow_by=None, threshold=-99.0, before=0), lm=None)
    ctx, outputs = ranking_context(None), {}
    ctx.shard, ctx.device = "0of1", "cpu"
    assert stage.run(cfg, inputs, outputs, ctx) == {"questions": 1}
    fixed = outputs["selections"].filter(pl.col("scorer").str.ends_with("@fixed"))
    assert fixed.group_by("scorer", maintain_order=True).agg("passage_id").rows() == [
        ("arrival:signed:paper@fixed", ["p0", "p1", "p3"]),  # in the order of the text, all candidates
        ("arrival:judge_factual@fixed", ["p0", "p3"]),
    ]
    assert ctx.counts == {"tokens_cut": 0}


def test_a_candidate_without_a_score_is_left_out_and_counted(tiny_lm, ecs, monkeypatch):
    """A turn that neighbours brought to the pool may lie below the last rank that the other ranking keeps."""
    stage = importlib.import_module("scripts.select_greedily")
    table = pl.DataFrame(
        {"question_id": "q1", "passage_id": ["p0", "p1", "p2"], "rank": [0, 1, 2], "free": True}
        | {"zsum": [1.0, None, 0.2], "pmi_q": [3.0, 2.0, 1.0]}
    )
    monkeypatch.setattr(stage, "features", lambda *_: table)
    shown = {"passage_id": ["p0", "p1", "p2"], "text": ["a ball", "June", "tennis"], "speaker": "Mira", "date": None}
    monkeypatch.setattr(stage, "with_preceding", lambda *_: pl.DataFrame(shown))
    counts, cfg = Counter(), SimpleNamespace(ecs=ecs(grow_by={"zsum": 1.0, "pmi_q": 1.0}, percentile=0.5, before=0))
    names = ("pool", "questions", "passages", "rankings", "statistics")
    select = stage._best_first(cfg, dict.fromkeys(names), tiny_lm(), counts)
    assert set(select("q1", "What?", None, 3)["greedy"]) == {"p0", "p2"}
    assert select("q2", "What?", None, 3)["greedy"] == []
    assert counts["candidates_without_score"] == 1
