"""The benchmark of the price, on questions that can be followed by hand."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
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


def test_a_finished_data_set_is_read_with_its_tokens_and_gold_passages(price, tmp_path, monkeypatch):
    texts = {"p0": "Bears eat.", "p1": "They sleep now.", "p2": "Bears eat."}  # p2 is of the class of p0
    read = {
        "passages": pl.DataFrame({"passage_id": texts.keys(), "text": texts.values()}).with_columns(
            doc_id=pl.lit("d"),
            position=pl.int_range(3),
            group_id=pl.lit("g"),
            speaker=pl.lit(None, pl.String),
            date=None,
        ),
        "questions": pl.DataFrame({"question_id": ["q", "other"], "split": ["test", "dev"]}),
        "evidence": pl.DataFrame({"question_id": ["q", "other"], "passage_id": ["p2", "p1"]}),
    }
    monkeypatch.setattr(price, "read_table", lambda table, path: read[path.stem])
    rows = [("q", "mine", 0, "p1", 0.5), ("q", "mine", 1, "p0", 0.25), ("q", "base", 0, "p0", 9.0)]
    ranked = pl.DataFrame(rows, ["question_id", "scorer", "rank", "passage_id", "value"], orient="row")
    (tmp_path / "rankings").mkdir()
    ranked.write_parquet(tmp_path / "rankings/rankings.parquet")
    more = SimpleNamespace(titles=False), lambda texts: np.array([len(text.split()) for text in texts])
    (one,) = price.load(f"{tmp_path}:test", "mine", "base", *more)
    assert (one.ranked.tolist(), one.base.tolist(), one.gold) == ([[0.5, 3, 0], [0.25, 2, 1]], [[9, 2, 1]], 1)
    with pytest.raises(SystemExit, match="ranker other has none or several rankings"):
        price.load(str(tmp_path), "other", "base", *more)
