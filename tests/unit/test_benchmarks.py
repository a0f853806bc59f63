"""Benchmarks on rows that can be followed by hand: distractors, drafted questions, and the price."""

import sys

import numpy as np
import polars as pl
import pytest
from tests.support.project import ROOT


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")

    def load(name: str):
        for module in (name, "harness"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        return __import__(name)

    return load


def paragraphs(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"doc_id": names, "title": [name.rstrip("+") for name in names], "passage_id": names})


def test_gold_paragraphs_come_first_then_the_sets_own_then_others_under_titles_that_it_lacks(bench):
    haystack = bench("haystack").haystack
    own, others = paragraphs(*"abcdef"), [paragraphs("a+", "x", "y"), paragraphs("x", "z", "f+")]
    found = haystack(own, [4, 1], others)["passage_id"].to_list()
    assert found[:2] == ["e", "b"]
    assert sorted(found[2:6]) == ["a", "c", "d", "f"]
    assert sorted(found[6:]) == ["x", "y", "z"]
    assert haystack(own, [4, 1], others)["passage_id"].to_list() == found


def test_recall_is_of_the_gold_passages_among_the_first_five(bench):
    scores = np.array([[9.0, 8, 7, 6, 5, 4, 3], [1.0, 2, 3, 4, 5, 6, 7]])
    assert bench("haystack").recall(scores, [frozenset({0, 6}), frozenset({2, 3})]).tolist() == [0.5, 1.0]


def test_differences_within_intervals_are_ties_and_agreement_counts_the_others(bench):
    drafted = bench("drafted")
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.1, (3, 50))
    found = {"a": 0.9 + noise[0], "b": 0.5 + noise[1], "c": 0.5 + noise[1] + 0.01 * noise[2]}
    signs = drafted.order(found, np.arange(50))
    assert signs == [1, 1, 0]
    assert drafted.agreement(signs, signs) == 1.0
    assert drafted.agreement([1, 1, 0], [-1, 1, 0]) == 0.0
    assert drafted.agreement([1, 1, 1, 1], [1, 0, 0, 0]) == 0.5
    assert np.isnan(drafted.agreement([0, 0], [1, 1]))


def passages(*rows: tuple[float, int, bool]) -> np.ndarray:
    return np.array(rows, float)


def test_a_question_is_cut_by_price_by_budget_and_by_count(bench):
    price = bench("price")
    ranked = passages((0.5, 64, True), (0.25, 256, True), (-1, 8, False))
    one = price.Asked(ranked, ranked[::-1], 4)
    assert one.limits.tolist() == [4.0, 0.5, -64.0]
    assert [one.priced(at) for at in (0.4, 0.5, 4)] == [(0.5, 320), (0.25, 64), (0, 0)]
    assert [one.constant("count", n) for n in (1, 2, 30)] == [(0, 8), (0.25, 264), (0.5, 328)]
    assert [one.constant("budget", n) for n in (7, 100, 300)] == [(0, 0), (0.25, 72), (0.25, 264)]
    nothing = price.Asked(np.zeros((0, 3)), np.zeros((0, 3)), 1)
    assert nothing.priced(0.5) == nothing.constant("count", 3) == nothing.constant("budget", 64) == (0, 0)


def test_shares_that_tell_the_questions_apart_beat_any_constant_and_equal_tokens_are_equal(bench):
    price = bench("price")
    asked = []
    for gold in (1, 8) * 20:  # one or eight gold passages, which the values tell
        rows = passages(*(((1 - k / 1000) / gold * (k < gold), 40, k < gold) for k in range(20)))
        asked.append(price.Asked(rows, rows, gold))
    found = {figure.name.partition(" (")[0]: figure.figure for figure in price.compared("d", asked, asked, [0.5, 2.0])}
    assert found["d, price 0.5: 180 tokens"] == pytest.approx(1 - 0.5 * 180 / 512)
    differences = {name: value for name, value in found.items() if " minus " in name}
    assert len(differences) == 6
    assert min(differences.values()) >= 0
