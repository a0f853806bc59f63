"""Shares of surprise, contrasts with wrong answers, and what thresholds and rules let in: what holds of any numbers."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.ecs.reading.rivals import rivals
from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.distractors import KINDS, acceptances, curve
from secateur.ecs.scoring.score import score

LOGPROB = st.floats(-60, 0)
SURPRISING = st.floats(-60, -1e-3)


def table(base: float, own: float, rival: float | None = None) -> pl.DataFrame:
    row = {"question_id": "q", "cut": 0, "prompt_tokens": 1, "tokens": 1}
    alone = row | {"passage_id": None, "answer_logprob": base}
    return statistics_frame([alone, row | {"passage_id": "p", "answer_logprob": own, "rival_share": rival}])


def value(kind: str, *numbers: float | None) -> float | None:
    return score(table(*numbers), {"kind": kind})["value"].item()


@given(SURPRISING, LOGPROB)
def test_a_share_is_at_most_one_and_has_the_sign_of_the_shift(base, own):
    found = value("signed_share", base, own)
    assert found <= 1
    assert found * -base == pytest.approx(own - base, abs=1e-9)


@given(SURPRISING, LOGPROB, st.floats(0.1, 10))
def test_a_share_does_not_depend_on_the_unit_of_surprise(base, own, unit):
    assert value("signed_share", unit * base, unit * own) == pytest.approx(value("signed_share", base, own), abs=1e-9)


def test_of_an_answer_that_is_certain_anyway_there_is_no_share():
    assert value("signed_share", 0.0, -1.0) is None
    assert value("signed_contrast", 0.0, -1.0, 0.5) is None


@given(SURPRISING, LOGPROB, st.floats(-5, 1))
def test_a_contrast_falls_with_what_the_rival_gains(base, own, rival):
    assert value("signed_contrast", base, own, rival) == pytest.approx(value("signed_share", base, own) - rival)
    assert value("signed_contrast", base, own, None) is None


WORD = st.sampled_from(["Ann", "Bo", "won", "lost", "4", "six", "bells", "on", "Monday", "the", "ropes"])
WORDS = st.lists(WORD, max_size=8).map(" ".join)


@given(WORDS, WORDS.filter(str.strip), WORDS)
def test_the_words_of_question_and_answer_are_no_rivals_whatever_the_passage(asked, answer, passage):
    question = Question("q", asked, answer)
    offered = rivals(question, Passage("p", passage))
    assert rivals(question, Passage("p", f"{passage} {answer} {asked}")) == offered
    assert not {word.lower() for word in offered} & {word.lower() for word in f"{asked} {answer}".split()}


SCORED = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(KINDS), st.integers(-5, 5).map(float)), min_size=1, max_size=40
).map(lambda rows: pl.DataFrame(rows, schema=["question_id", "kind", "value"], orient="row"))


@given(SCORED)
def test_a_higher_threshold_never_lets_in_more(frame):
    found = curve(frame)
    kinds = frame["kind"].unique().to_list()
    assert found.height == (100 * len(kinds) if "random" in kinds else 0)
    assert found["value"].is_between(0, 1).all()
    steps = found.group_by("kind", maintain_order=True).agg(pl.col("value").diff().max().fill_null(0))
    assert (steps["value"] <= 0).all()


@given(SCORED)
def test_a_curve_knows_scores_by_their_order_alone(frame):
    chance = frame.filter(kind="random").height
    at = [n / 100 for n in range(100) if chance and n * (chance - 1) % 100 == 0]  # where a percentile is a score itself
    one, other = (curve(f).filter(pl.col("at").is_in(at)) for f in (frame, frame.with_columns(pl.col("value") ** 3)))
    assert one["value"].to_list() == other["value"].to_list()


VALUE = st.one_of(st.none(), st.integers(-3, 3))
PASSAGES = st.lists(st.tuples(st.sampled_from(KINDS), VALUE, VALUE, VALUE), min_size=1, max_size=20)
TAUS = st.fixed_dictionaries(dict.fromkeys("abc", st.integers(-3, 3)))


@given(PASSAGES, TAUS)
def test_a_rule_accepts_the_passages_that_all_its_scores_accept_and_no_other(rows, taus):
    frame = pl.DataFrame(rows, schema={"kind": pl.String} | dict.fromkeys("abc", pl.Float64), orient="row")
    frame = frame.with_columns(question_id=pl.int_range(pl.len()))  # one passage a question: a share is a verdict

    def accepted(names: str) -> set[int]:
        found = acceptances(frame, {"rule": {name: taus[name] for name in names}})
        return set(found.filter(pl.col("value") == 1)["question_id"])

    assert accepted("abc") <= accepted("ab") <= accepted("a")
    assert accepted("abc") == accepted("a") & accepted("b") & accepted("c")
