"""Passages read by a language model: a pair once, and how what was read moves the ranking."""

import logging
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from secateur.config import compose
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.ecs import rerank as module
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.rerank import pmi_q, reranked
from secateur.ecs.scoring.score import score
from secateur.ranking.rerankers.pmi_q import Settings, rerank

ASKED = {"question_id": ["q1", "q2"], "text": ["What had she swallowed?", "Where is Ghent?"]}
QUESTIONS = pl.DataFrame(ASKED).with_columns(group_id=pl.lit("g"), answer=pl.lit(None, pl.String))
SAID = [
    ("g1", "half a tennis ball", "Mira", "May"),
    ("g2", "Jonas left .", "Jonas", None),
    ("g3", "Ghent lies in Flanders", None, None),
]
PASSAGES = pl.DataFrame(SAID, ["passage_id", "text", "speaker", "date"], orient="row").with_columns(
    group_id=pl.lit("g")
)
CONF = Path(__file__).parents[2] / "conf"
LOG = logging.getLogger("test")
EVERY = [f"{question} {passage}" for question in ("q1", "q2") for passage in ("g1", "g2", "g3")]


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
    inner = module._gains
    monkeypatch.setattr(module, "_gains", lambda lm, cfg, asked: read.append(asked) or inner(lm, cfg, asked))
    first = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g1", "q2 g3"), tmp_path, LOG)
    again = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q2 g3", "q1 g2", "q1 g1"), tmp_path, LOG)
    named = [[(question.id, *(p.id for p in own)) for question, _, own in asked] for asked in read]
    assert named == [[("q1", "g1"), ("q2", "g3")], [("q1", "g2")]]
    both = first.join(again, on=["question_id", "passage_id"], suffix="_again")
    assert both["value"].to_list() == both["value_again"].to_list()
    pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g2"), tmp_path, LOG)
    assert len(read) == 2
    other = pmi_q(lm, QUESTIONS.with_columns(text=pl.lit("Who left?")), PASSAGES, cfg, pool("q1 g1"), tmp_path, LOG)
    assert other["value"][0] != first["value"][0]


def test_two_jobs_at_once_lose_nothing_of_each_other(tiny_lm, ecs, tmp_path, monkeypatch):
    lm, cfg, inner, read = tiny_lm(), ecs(), module._gains, []

    def while_another_reads(lm, cfg, asked):
        read.append(asked)
        if len(read) == 1:
            pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g2"), tmp_path, LOG)
        return inner(lm, cfg, asked)

    monkeypatch.setattr(module, "_gains", while_another_reads)
    pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g1"), tmp_path, LOG)
    assert len(read) == 2
    pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool("q1 g1", "q1 g2"), tmp_path, LOG)
    assert len(read) == 2


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.sampled_from(EVERY), min_size=1, unique=True), max_size=3), st.permutations(EVERY))
def test_values_do_not_depend_on_what_was_read_before(tiny_lm, ecs, tmp_path_factory, jobs, last):
    lm, cfg = tiny_lm(), ecs()
    cold, warm = tmp_path_factory.mktemp("cold"), tmp_path_factory.mktemp("warm")
    for pairs in jobs:
        pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool(*pairs), warm, LOG)
    found = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool(*last), warm, LOG)
    once = pmi_q(lm, QUESTIONS, PASSAGES, cfg, pool(*EVERY), cold, LOG)
    assert found.sort("question_id", "passage_id").equals(once.sort("question_id", "passage_id"))


def test_what_two_passages_say_is_what_the_first_says_and_the_second_after_it(tiny_lm, ecs, tmp_path):
    text = pl.lit("half a tennis ball\nJonas: Jonas left .")
    together = PASSAGES.head(1).with_columns(passage_id=pl.lit("both"), text=text)
    shown, lm, cfg = pl.concat([PASSAGES, together]), tiny_lm(), ecs()
    alone = pmi_q(lm, QUESTIONS, shown, cfg, pool("q1 g1", "q1 g2", "q1 both"), tmp_path, LOG)["value"]
    after = pmi_q(lm, QUESTIONS, shown, cfg, pool("q1 g2"), tmp_path, LOG, {"q1": ["g1"]})["value"][0]
    assert after != alone[1]
    assert alone[0] + after == pytest.approx(alone[2], abs=1e-3)


NAMES = ("a", "b", "c", "d")
ROW = {"question_id": "q1", "scorer": "graph", "answer_aware": False, "edge_id": None}
ROWS = [ROW | {"rank": n, "passage_id": name, "value": 1 - n / 10} for n, name in enumerate(NAMES)]
RANKED = pl.DataFrame(ROWS, schema=TABLES["rankings"].empty().schema)


def checked(found: pl.DataFrame) -> list[str]:
    """The passages of one question in their order."""
    check(TABLES["rankings"], found, "here", "none")
    assert found["rank"].to_list() == [0, 1, 2, 3]
    assert found["value"].is_sorted(descending=True)
    return found["passage_id"].to_list()


def read_of(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["question_id", "passage_id", "value"], orient="row")


def order(weight: float, **values: float) -> list[str]:
    """The passages in their new order. values: pmi_q of those that were read."""
    return checked(reranked(RANKED, read_of(*(("q1", passage, value) for passage, value in values.items())), weight))


def test_a_passage_under_which_the_question_is_likelier_moves_up():
    assert order(1.5, a=0.0, b=0.0, c=9.0) == ["c", "a", "b", "d"]
    assert order(0.0, a=0.0, b=5.0, c=9.0) == ["a", "b", "c", "d"]  # without weight nothing moves
    assert order(1.5, a=2.0, b=2.0, c=2.0) == ["a", "b", "c", "d"]  # all read alike
    assert order(1.5, a=-50.0, b=0.0) == ["b", "a", "c", "d"]  # what was read is never behind what was not


def test_each_question_moves_by_its_own_reading():
    both = pl.concat([RANKED, RANKED.with_columns(question_id=pl.lit("q2"))])
    read = read_of(("q1", "a", 0.0), ("q1", "d", 9.0), ("q2", "a", 9.0), ("q2", "d", 0.0))
    first = reranked(both, read, 1.5).filter(rank=0).select("question_id", "passage_id")
    assert sorted(first.rows()) == [("q1", "d"), ("q2", "a")]


def test_the_edges_of_one_passage_move_together_and_stay_one_row_each():
    edges = RANKED.with_columns(passage_id=pl.Series(["a", "a", "b", "a"]), edge_id=pl.Series(range(4), dtype=pl.Int32))
    pairs = module.pool_of(edges, 3)
    assert pairs.rows() == [("q1", "a"), ("q1", "b")]
    read = pairs.with_columns(value=pl.Series([0.0, 9.0]))
    assert reranked(edges, read, 1.5).select("passage_id", "edge_id").rows() == [("b", 2), ("a", 0), ("a", 1), ("a", 3)]


GAINS = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 9.0}
AFTER_D = {"a": 9.0, "b": 0.0, "c": 0.0}
EVERY_NAME = pool(*(f"q1 {name}" for name in NAMES))


def with_gains(pairs, gains: dict[str, float]) -> pl.DataFrame:
    return pairs.with_columns(value=pl.col("passage_id").replace_strict(gains, return_dtype=pl.Float64))


def in_turn(steps: int) -> tuple[list[str], list[list[str]]]:
    """The order after so many readings, and what was chosen before each."""
    before = []

    def read(pairs, chosen):
        before.append(list(chosen["q1"]))
        return with_gains(pairs, AFTER_D if "d" in chosen["q1"] else GAINS)

    return checked(module.choose_in_turn(RANKED, EVERY_NAME, steps, 1.5, read)), before


def test_the_order_of_choices_is_kept_where_scores_are_too_large_to_tell_them_apart():
    gains = {"c": 9.0, "d": 8.0, "b": 7.0, "a": 6.0}
    large = RANKED.with_columns(value=pl.lit(3e7, pl.Float32))
    found = module.choose_in_turn(large, EVERY_NAME, 4, 100.0, lambda pairs, chosen: with_gains(pairs, gains))
    assert found["passage_id"].to_list() == ["c", "d", "b", "a"]


def test_what_is_worth_more_after_the_first_follows_it():
    assert in_turn(1) == (order(1.5, **GAINS), [[]]) == (["d", "c", "b", "a"], [[]])
    assert in_turn(2) == (["d", "a", "b", "c"], [[], ["d"]])
    assert in_turn(3) == (["d", "a", "b", "c"], [[], ["d"], ["d", "a"]])
    assert sorted(in_turn(9)[0]) == list(NAMES)  # more readings than passages


def test_the_best_of_each_question_alone_are_read_and_none_with_its_answer(ecs, tmp_path, monkeypatch):
    read = []

    def watched(lm, questions, passages, cfg, pool, cache, log, given):
        read.append((questions["question_id"].to_list(), pool.rows()))
        return pool.with_columns(value=pl.Series([float(n) for n in range(pool.height)]))

    monkeypatch.setattr("secateur.models.reader.load", lambda lm, cache, device: None)
    monkeypatch.setattr(module, "pmi_q", watched)
    option = compose.option(CONF, "lm", "smollm2")
    ctx = SimpleNamespace(cache=tmp_path, device="cpu", log=LOG)
    cfg = SimpleNamespace(ecs=ecs(), extra=SimpleNamespace(model=asdict(option)))
    questions = QUESTIONS.with_columns(position=pl.int_range(pl.len()))
    passages = PASSAGES.with_columns(doc_id=pl.lit("d"), position=pl.int_range(pl.len()))
    found = rerank(Settings("smollm2", 2, 1.5), RANKED, questions, passages, cfg, ctx)
    assert read == [(["q1"], [("q1", "a"), ("q1", "b")])]
    assert found["passage_id"].to_list() == ["b", "a", "c", "d"]
