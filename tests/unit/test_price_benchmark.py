"""The benchmark of the price, on questions that can be followed by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def price(monkeypatch):
    """The benchmark as a module."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    for module in ("price", "harness"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    import price

    return price


def passages(*rows: tuple[float, int, bool]) -> np.ndarray:
    return np.array(rows, float)


def test_a_question_is_cut_by_price_by_budget_and_by_count(price):
    ranked = passages((0.5, 64, True), (0.25, 256, True), (-1, 8, False))
    one = price.Asked(ranked, ranked[::-1], 4)
    assert one.limits.tolist() == [4.0, 0.5, -64.0]
    assert [one.priced(at) for at in (0.4, 0.5, 4)] == [(0.5, 320), (0.25, 64), (0, 0)]
    assert [one.constant("count", n) for n in (1, 2, 30)] == [(0, 8), (0.25, 264), (0.5, 328)]
    assert [one.constant("budget", n) for n in (7, 100, 300)] == [(0, 0), (0.25, 72), (0.25, 264)]
    nothing = price.Asked(np.zeros((0, 3)), np.zeros((0, 3)), 1)
    assert nothing.priced(0.5) == nothing.constant("count", 3) == nothing.constant("budget", 64) == (0, 0)


def test_shares_that_tell_the_questions_apart_beat_any_constant_and_equal_tokens_are_equal(price):
    asked = []
    for gold in (1, 8) * 20:  # one or eight gold passages, which the values tell
        rows = passages(*(((1 - k / 1000) / gold * (k < gold), 40, k < gold) for k in range(20)))
        asked.append(price.Asked(rows, rows, gold))
    found = {figure.name.partition(" (")[0]: figure.figure for figure in price.compared("d", asked, asked, [0.5, 2.0])}
    assert found["d, price 0.5: 180 tokens"] == pytest.approx(1 - 0.5 * 180 / 512)
    differences = {name: value for name, value in found.items() if " minus " in name}
    assert len(differences) == 6
    assert min(differences.values()) >= 0
