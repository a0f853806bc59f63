"""The benchmarks of distractors and of drafted questions, on rows that can be followed by hand."""

import sys

import numpy as np
import polars as pl
import pytest
from tests.support.project import ROOT


@pytest.fixture
def bench(monkeypatch):
    """A benchmark as a module, by name."""
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
