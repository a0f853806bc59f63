"""The official figures of LongMemEval by hand, and against a plain reading of their definition."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.evaluation.rankings import cutoff_metrics, passage_depths, pool_random, session_depths


def ranked(units: str, gold: str) -> pl.DataFrame:
    """Passages 0, 1, ... best first, of sessions named by letters; `gold` has an x where a passage is gold."""
    return pl.DataFrame(
        {
            "question_id": ["q"] * len(units),
            "scorer": ["s"] * len(units),
            "rank": pl.Series(range(len(units)), dtype=pl.Int32),
            "passage_id": [f"p{n}" for n in range(len(units))],
            "session_id": list(units),
            "gold": [mark == "x" for mark in gold],
        }
    )


def measured(ranking: pl.DataFrame, cutoffs, level: str, *, kept: int | None = None) -> dict[int, tuple]:
    """k -> (recall_any, recall_all, ndcg_any)."""
    gold = ranking.filter("gold").select("question_id", "passage_id", "session_id")
    pooled = pl.DataFrame({"question_id": ["q"], "pooled": [ranking.height]})
    ranking = ranking.head(kept or ranking.height)
    read, unit = (passage_depths, "passage_id") if level == "turn" else (session_depths, "session_id")
    found = cutoff_metrics(ranking, gold, read(ranking, pooled, cutoffs), unit)
    return {row[0]: row[1:] for row in found.select("k", "recall_any", "recall_all", "ndcg_any").iter_rows()}


@pytest.mark.parametrize(
    ("level", "units", "gold", "expected"),
    [
        # The second place counts whole; the ideal holds two.
        ("turn", "abcde", "-x-x-", {1: (0, 0, 0), 3: (1, 0, 1 / 2), 4: (1, 1, 3 / 4), 50: (1, 1, 3 / 4)}),
        ("turn", "abc", "xxx", {1: (1, 0, 1), 2: (1, 0, 1)}),  # the ideal of k holds k passages at most
        # Two sessions take four turns, and b's turn then counts at the fourth place.
        ("session", "aaabc", "---x-", {1: (0, 0, 0), 2: (1, 1, 1 / 2), 3: (1, 1, 1 / 2)}),
        # A gold session is found with one of its gold turns, and gain counts turns.
        ("session", "abab", "xx-x", {1: (1, 0, 1), 2: (1, 1, 1)}),
        ("session", "aab", "x-x", {3: (1, 1, (1 + 1 / math.log2(3)) / 2)}),
        # A turn of a gold session without evidence is a session of its own: two names were seen after two turns.
        ("session", "aab", "-x-", {1: (0, 0, 0), 2: (1, 1, 1)}),
        ("session", "aba", "--x", {50: (1, 1, 1 / math.log2(3))}),  # fewer sessions than k are read to the end
    ],
)
def test_figures_by_hand(level, units, gold, expected):
    found = measured(ranked(units, gold), list(expected), level)
    assert found == {k: pytest.approx(figures) for k, figures in expected.items()}


def test_a_cutoff_beyond_what_was_kept_has_no_figures():
    ranking = ranked("aaabc", "x--x-")
    assert set(measured(ranking, [1, 3, 4, 50], "turn", kept=3)) == {1, 3}
    assert set(measured(ranking, [1, 2, 3], "session", kept=3)) == {1, 2}  # a with evidence, a without
    assert set(measured(ranking, [1, 2, 3, 50], "session")) == {1, 2, 3, 50}


def test_a_cutoff_is_left_out_for_a_scorer_as_soon_as_one_question_leaves_it_open():
    short, long = ranked("abc", "x--"), ranked("abcd", "x---").with_columns(question_id=pl.lit("r"))
    ranking = pl.concat([short, long.head(3)])
    gold = ranking.filter("gold").select("question_id", "passage_id", "session_id")
    pooled = pl.DataFrame({"question_id": ["q", "r"], "pooled": [3, 4]})
    found = cutoff_metrics(ranking, gold, passage_depths(ranking, pooled, [3, 4]), "passage_id")
    assert sorted(found.select("question_id", "k").iter_rows()) == [("q", 3), ("r", 3)]


def plain(units: str, gold: str, k: int, level: str) -> tuple[float, float, float]:
    """The definition read word by word, over lists."""
    names = [(u, g == "x") if level == "session" else n for n, (u, g) in enumerate(zip(units, gold, strict=True))]
    correct = {name for name, g in zip(names, gold, strict=True) if g == "x"}
    depth = k
    while level == "session" and depth <= len(names) and len(set(names[:depth])) < k:
        depth += 1

    def dcg(marks: list[int]) -> float:
        return sum(m if i == 0 else m / math.log2(i + 1) for i, m in enumerate(marks[:depth]))

    marks = [int(g == "x") for g in gold]
    seen = set(names[:depth])
    return float(bool(seen & correct)), float(correct <= seen), dcg(marks) / dcg(sorted(marks, reverse=True))


@given(
    turns=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=12).filter(
        lambda turns: any(gold for _, gold in turns)
    ),
    k=st.integers(1, 15),
    level=st.sampled_from(["turn", "session"]),
)
def test_the_figures_are_those_of_the_definition(turns, k, level):
    units, gold = "".join(u for u, _ in turns), "".join("x" if g else "-" for _, g in turns)
    assert measured(ranked(units, gold), [k], level)[k] == pytest.approx(plain(units, gold, k, level))


def pool_of(size: int, aware: int = 0) -> pl.DataFrame:
    """A question's pool: passages found without the answer, those found with it, and two of the null."""
    ranks = [*range(size + aware), None, None]
    frame = pl.DataFrame({"passage_id": [f"p{n}" for n in range(len(ranks))], "rank": ranks})
    return frame.select(pl.lit("q").alias("question_id"), "passage_id", "rank", free=pl.int_range(pl.len()) < size)


def gold_of(*passages: int) -> pl.DataFrame:
    return pl.DataFrame({"question_id": ["q"] * len(passages), "passage_id": [f"p{n}" for n in passages]})


def chance(*arguments) -> dict[tuple, float]:
    return {row[:2]: row[2] for row in pool_random(*arguments).select("scorer", "answer_aware", "value").iter_rows()}


@pytest.mark.parametrize(
    ("gold", "free", "aware"),
    [
        ((0,), 1 / 4, 1 / 6),  # one of p
        ((5,), 0, 1 / 6),  # found with the answer alone
        ((7,), 0, 0),  # of the null: no candidate
        ((0, 1, 99), 2 * 3 * (2 / 4) / (3 + 3), 2 * 3 * (2 / 6) / (3 + 3)),  # one is not in the pool
        ((*range(3), 91, 92, 93), 2 * 4 * (3 / 4) / (4 + 6), 2 * 6 * (3 / 6) / (6 + 6)),  # more gold than candidates
    ],
)
def test_chance_in_a_pool_by_hand(gold, free, aware):
    found = chance(pool_of(4, aware=2), gold_of(*gold))
    assert found == {("pool_random", False): pytest.approx(free), ("pool_random+answer", True): pytest.approx(aware)}


@given(st.integers(1, 8), st.sets(st.integers(0, 11), min_size=1, max_size=6), st.integers(0, 99))
def test_chance_in_a_pool_is_the_mean_f1_of_random_selections(size, gold, seed):
    taken = min(len(gold), size)
    drawn = np.random.default_rng(seed).permuted(np.tile(np.arange(size), (4000, 1)), axis=1)[:, :taken]
    f1 = 2 * np.isin(drawn, list(gold)).sum(1) / (taken + len(gold))
    expected = chance(pool_of(size), gold_of(*sorted(gold)))["pool_random", False]
    assert expected == pytest.approx(f1.mean(), abs=5 * f1.std() / len(f1) ** 0.5 + 1e-9)


def test_a_question_without_gold_has_no_chance():
    assert pool_random(pool_of(3), gold_of(0).clear()).is_empty()
