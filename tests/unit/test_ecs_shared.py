"""pmi_q of pairs, each read once."""

import logging

import polars as pl
import pytest

from secateur.ecs import shared
from secateur.ecs.scorers import score
from secateur.ecs.shared import pmi_q
from secateur.ecs.sweep import statistics

QUESTIONS = pl.DataFrame(
    {
        "question_id": ["q1", "q2"],
        "group_id": ["g", "g"],
        "text": ["What had she swallowed?", "Where is Ghent?"],
        "answer": pl.Series([None, None], dtype=pl.String),
    }
)
PASSAGES = pl.DataFrame(
    {
        "passage_id": ["g1", "g2", "g3"],
        "group_id": ["g"] * 3,
        "text": ["half a tennis ball", "Jonas left .", "Ghent lies in Flanders"],
        "speaker": ["Mira", "Jonas", None],
        "date": ["May", None, None],
    }
)
LOG = logging.getLogger("test")


def pool(*pairs: str) -> pl.DataFrame:
    rows = [pair.split() for pair in pairs]
    return pl.DataFrame(rows, schema=["question_id", "passage_id"], orient="row")


def test_values_are_those_of_the_statistics_in_the_pools_order(tiny_lm, ecs, tmp_path):
    lm, cfg, asked = tiny_lm(), ecs(), pool("q2 g3", "q1 g1", "q2 g1")
    found = pmi_q(lm, QUESTIONS, PASSAGES, cfg, asked, tmp_path, LOG)
    whole = score(pl.concat(statistics(lm, QUESTIONS, PASSAGES, cfg)), "pmi_q")
    expected = asked.join(whole, on=["question_id", "passage_id"], how="left", maintain_order="left")
    assert found.select("question_id", "passage_id").equals(asked)
    assert found["value"].to_list() == pytest.approx(expected["value"].to_list(), abs=1e-3)


def test_what_was_read_is_not_read_again(tiny_lm, ecs, tmp_path, monkeypatch):
    lm, cfg, read = tiny_lm(), ecs(), []

    def watched(lm, questions, passages, cfg, missing, **more):
        read.append(missing.rows())
        return statistics(lm, questions, passages, cfg, missing, **more)

    monkeypatch.setattr(shared, "statistics", watched)
    first = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g1", "q2 g3"), tmp_path, LOG)
    again = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q2 g3", "q1 g2", "q1 g1"), tmp_path, LOG)
    assert read == [[("q1", "g1"), ("q2", "g3")], [("q1", "g2")]]
    both = first.join(again, on=["question_id", "passage_id"], suffix="_again")
    assert both["value"].to_list() == both["value_again"].to_list()
    pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g2"), tmp_path, LOG)
    assert len(read) == 2


def test_another_question_is_read_anew(tiny_lm, ecs, tmp_path):
    lm, asked = tiny_lm(), pool("q1 g1")
    one = pmi_q(lm, QUESTIONS, PASSAGES, ecs(), asked, tmp_path, LOG)["value"][0]
    other = QUESTIONS.with_columns(text=pl.lit("Who left?"))
    assert pmi_q(lm, other, PASSAGES, ecs(), asked, tmp_path, LOG)["value"][0] != one
