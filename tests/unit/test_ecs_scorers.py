"""Scores as functions of the table, each worked out by hand; the null by brute force."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from secateur.config import compose, plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.ecs.columns import COLUMNS
from secateur.ecs.reading.sweep import statistics_frame
from secateur.ecs.scoring.null import draws, null, tau
from secateur.ecs.scoring.score import columns, score, sees_answer

SCORES = compose.option(Path(__file__).parents[2] / "conf", "rankers", "utility").scores
ROW = {"question_id": "q", "cut": 0, "prompt_tokens": 9, "answer_tokens": 2, "question_tokens": 3}
BASE = {"tokens": 0, "answer_logprob": -8.0, "answer_first": -5.0, "question_logprob": -20.0, "entropy": 4.0}
HELPFUL = {"tokens": 10, "answer_logprob": -2.0, "answer_first": -1.0, "question_logprob": -12.0, "entropy": 1.5}
HELPFUL |= {"kl": 0.5, "js": 0.1, "kl_tail": 0.4, "kl_paper": 0.9, "kl_path": [0.5, 0.25], "rival_share": 0.5}
HELPFUL |= {"trajectory_ctx": 0.7, "trajectory_base": 0.6, "judge_helpful_answer": 0.9, "judge_factual": 0.5}
HARMFUL = {"tokens": 4, "answer_logprob": -11.0, "answer_first": -5.5, "question_logprob": -21.0, "entropy": 4.5}
HARMFUL |= {"kl": 0.25, "js": 0.05, "kl_tail": 0.2, "kl_paper": 0.3, "kl_path": [0.25, 0.5]}
TABLE = statistics_frame(
    [ROW | {"passage_id": name} | row for name, row in ((None, BASE), ("p", HELPFUL), ("w", HARMFUL))]
)
EXPECTED = {
    "signed": (6.0, -3.0),
    "signed_mean": (3.0, -1.5),
    "signed_share": (0.75, -0.375),
    "signed_contrast": (0.25, None),
    "signed_first": (4.0, -0.5),
    "signed_kl": (0.5, -0.25),
    "kl_first": (0.5, 0.25),
    "kl_topk:tail": (0.4, 0.2),
    "kl_topk:paper": (0.9, 0.3),
    "trajectory:gold": (0.75, 0.75),
    "trajectory:ctx": (0.7, None),
    "trajectory:base": (0.6, None),
    "js": (0.1, 0.05),
    "entropy_drop": (2.5, -0.5),
    "pmi_q": (8.0, -1.0),
    "judge_helpful_answer": (0.9, None),
    "judge_factual": (0.5, None),
    "judge_helpful_answer_binary": (1.0, None),
    "judge_factual_binary": (0.0, None),
}


def test_every_score_is_here():
    assert set(EXPECTED) == set(SCORES)
    assert {spec["kind"] for spec in SCORES.values()} == set(plugins.names("score"))


PENALISED = {"kind": "signed", "length_penalty": 0.5}  # a token of the candidate


@pytest.mark.parametrize(
    ("spec", "expected"), [(PENALISED, (1.0, -5.0)), *((SCORES[n], EXPECTED[n]) for n in EXPECTED)]
)
def test_a_score_by_hand(spec, expected):
    assert score(TABLE, spec)["value"].to_list() == pytest.approx(expected, nan_ok=True)


def test_scores_that_see_the_answer_are_those_that_change_with_it():
    """The judges' columns are told apart by their prompt."""
    blind = TABLE.with_columns(
        answer_logprob=pl.col("answer_logprob") * 2 - 1,
        answer_first=pl.col("answer_first") * 2 - 1,
        answer_tokens=pl.lit(5, pl.Int32),
        rival_share=pl.lit(0.75),
        kl_path=pl.lit([9.0], pl.List(pl.Float64)),
        judge_helpful_answer=pl.lit(0.1),
    )
    blind = blind.with_columns(answer_logprob=pl.when(passage_id="p").then(-30.0).otherwise("answer_logprob"))
    moved = {name for name, spec in SCORES.items() if not score(blind, spec).equals(score(TABLE, spec))}
    assert moved == {name for name, spec in SCORES.items() if sees_answer(spec)}
    assert len(moved) == 9


def test_every_column_of_the_statistics_is_known_for_what_it_is_made_of():
    measured = set(TABLES["statistics"].columns) - {"question_id", "passage_id"}
    assert {name for name in COLUMNS if not name.startswith("base_")} == measured
    assert set().union(*map(columns, SCORES.values())) <= set(COLUMNS)


def test_unknown_scores_and_lost_base_rows_are_refused():
    with pytest.raises(SecateurError, match=r"score 'sined' is unknown.*did you mean 'signed'"):
        score(TABLE, "sined")
    with pytest.raises(SecateurError, match="question q has no base row"):
        score(TABLE.drop_nulls("passage_id"), "signed")


PASSAGES = pl.select(passage_id=pl.format("p{}", pl.int_range(40)), group_id=pl.lit("g"), tokens=pl.int_range(40) // 2)
ASKED = pl.DataFrame({"question_id": ["q1", "q2"], "group_id": ["g", "g"]})


def test_a_null_is_drawn_from_each_quartile_of_length_the_same_whatever_the_order():
    drawn = draws(ASKED, PASSAGES, 3, seed=7)
    assert drawn.filter("drawn").group_by("question_id", "quartile").len()["len"].to_list() == [4] * 8
    tokens = drawn.join(PASSAGES, on="passage_id").group_by("quartile").agg(low=pl.min("tokens"), high=pl.max("tokens"))
    assert tokens.sort("quartile").rows() == [(0, 0, 4), (1, 5, 9), (2, 10, 14), (3, 15, 19)]
    assert draws(ASKED.reverse(), PASSAGES.sample(fraction=1, shuffle=True, seed=1), 3, seed=7).equals(drawn)
    assert not draws(ASKED, PASSAGES, 3, seed=8).equals(drawn)


def test_a_score_is_compared_with_the_others_of_its_null():
    drawn, rng = draws(ASKED, PASSAGES, 3, seed=7), np.random.default_rng(1)
    scores = drawn.select("question_id", "passage_id").with_columns(value=pl.Series(rng.normal(5, 2, drawn.height)))
    found = null(scores, drawn, 3)
    both = scores.join(drawn, on=["question_id", "passage_id"], maintain_order="left")
    for row, z, chance in zip(both.iter_rows(named=True), found["value"], found["chance"], strict=True):
        cell = both.filter("drawn", question_id=row["question_id"], quartile=row["quartile"])
        values = cell.filter(pl.col("passage_id") != row["passage_id"])["value"].to_numpy()[:3]
        assert len(values) == 3
        assert z == pytest.approx((row["value"] - values.mean()) / values.std(ddof=1))
        assert chance == row["drawn"]


def test_a_null_that_says_nothing_gives_no_score():
    drawn = draws(ASKED, PASSAGES, 3, seed=7)
    same = drawn.select("question_id", "passage_id", value=pl.lit(0.1))
    assert null(same, drawn, 3)["value"].null_count() == same.height
    missing = same.with_columns(value=pl.when(pl.int_range(pl.len()) == 0).then(1.0))
    assert null(missing, drawn, 3)["value"].null_count() == same.height
    assert np.isnan(tau(null(missing, drawn, 3), 0.95))


def test_tau_lets_a_twentieth_of_noise_pass():
    many = pl.DataFrame({"question_id": [f"q{n}" for n in range(200)], "group_id": "g"})
    drawn = draws(many, PASSAGES, 8, seed=7)
    noise = np.random.default_rng(2).normal(1, 3, drawn.height)
    z = null(drawn.select("question_id", "passage_id").with_columns(value=pl.Series(noise)), drawn, 8)
    fresh = z.filter(~pl.col("chance"))["value"]
    assert (fresh > tau(z, 0.95)).mean() == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("value", [0.1, 0.7, 1.0, 123.456])
def test_an_outlier_beside_equal_passages_has_no_score_however_sums_round(value):
    """What is left of the null of the outlier has no spread, though sums of squares say 1e-8."""
    drawn = draws(ASKED.head(1), PASSAGES.with_columns(tokens=10), 8, 7)
    outlier = drawn.filter("drawn")["passage_id"][0]
    scores = drawn.with_columns(value=pl.when(passage_id=outlier).then(0.0).otherwise(value))
    assert null(scores, drawn, 8).filter(passage_id=outlier)["value"].item() is None
