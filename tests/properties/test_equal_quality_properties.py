"""Tokens at equal quality: monotone in the level, free of the unit of tokens, and right where the answer is known."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.evaluation.equal_quality import at_equal_quality, equal_quality, tokens_to_reach

CFG = SimpleNamespace(resamples=200, seed=7, min_units=10)
values = st.floats(0, 1, width=32)
curves = st.lists(st.tuples(st.floats(0, 2048, width=32), values), min_size=1, max_size=7)


def reach(points: list[tuple[float, float]], level: float) -> float:
    tokens, quality = np.array(points, float).T
    return float(tokens_to_reach(tokens[None], quality[None], np.array([level]))[0])


@given(points=curves, levels=st.tuples(values, values))
def test_a_higher_level_takes_no_fewer_tokens(points, levels):
    assert reach(points, min(levels)) <= reach(points, max(levels))


@given(points=curves, level=values)
def test_the_level_is_reached_within_the_curve_or_never(points, level):
    needed = reach(points, level)
    assert np.isinf(needed) == (max(quality for _, quality in points) < level)
    tokens = [t for t, _ in points]
    assert np.isinf(needed) or min(tokens) - 1e-6 <= needed <= max(tokens) + 1e-6


@given(seed=st.integers(0, 999), scale=st.sampled_from([0.5, 2.0, 8.0]))
def test_the_ratio_does_not_depend_on_the_unit_of_tokens_or_of_quality(seed, scale):
    rng = np.random.default_rng(seed)
    tokens, quality = np.cumsum(rng.uniform(1, 99, (30, 4)), axis=1), np.cumsum(rng.uniform(0, 0.2, (30, 4)), axis=1)
    reference = np.stack([rng.uniform(50, 90, 30), rng.uniform(0, 0.5, 30)], axis=1)
    one = at_equal_quality(tokens, quality, reference, np.arange(30), CFG)
    other = at_equal_quality(scale * tokens, scale * quality, scale * reference, np.arange(30), CFG)
    assert np.allclose([one.ratio, one.low, one.high], [other.ratio, other.low, other.high])
    assert one.reached == other.reached


@pytest.mark.parametrize(
    ("reference", "tokens", "ratio", "reached"),
    [((100, 0.25), 50, 0.5, 1), ((200, 0.6), 200, 1, 1), ((100, 0.7), np.inf, np.inf, 0)],
)
def test_the_reference_needs_its_own_tokens_and_a_curve_below_it_never_gets_there(reference, tokens, ratio, reached):
    curve = (np.tile(points, (40, 1)) for points in ([0.0, 100.0, 200.0], [0.0, 0.5, 0.6], reference))
    found = at_equal_quality(*curve, np.arange(40), CFG)
    assert [found.tokens, found.ratio, found.low, found.high] == pytest.approx([tokens, ratio, ratio, ratio])
    assert found.reached == reached


def figures(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    """30 questions with the same figures. rows: system, metric, value."""
    full = [(f"q{n}", f"q{n}", s, "blind", None, False, metric, value) for s, metric, value in rows for n in range(30)]
    names = ["question_id", "cluster_id", "system", "order", "scorer", "answer_aware", "metric", "value"]
    types = dict.fromkeys(names, pl.String) | {"answer_aware": bool, "value": float}
    return pl.DataFrame(full, schema=types, orient="row")


def variant(system: str, budget: int, curve: str | None = None) -> dict:
    axes = {"reader": "smollm2", "answer": f"default, {budget} tokens"}
    return {"system": system, "curve": curve or system, "budget": budget, "axes": axes}


def test_the_table_has_evidence_from_budgets_and_answers_from_variants_of_one_system():
    reference = [("top5", "tokens@512", 100.0), ("top5", "tokens@2048", 200.0), ("top5", "evidence_recall@2048", 0.4)]
    reference += [("top5", "token_f1", 0.3), ("top5", "tokens@claim", 150.0), ("beam", "tokens@claim", 288.0)]
    beam = [("beam", f"tokens@{b}", b) for b in (64, 512)]
    beam += [("beam", "evidence_recall@64", 0.4), ("beam", "evidence_recall@512", 0.9), ("beam", "token_f1", 0.4)]
    short = [("beam:budget=64", f"tokens@{b}", b) for b in (64, 512)] + [("beam:budget=64", "token_f1", 0.2)]
    variants = [variant("top5", 512), variant("beam", 512), variant("beam:budget=64", 64, "beam")]
    table = equal_quality(figures([*reference, *beam, *short]), variants, "top5", CFG)
    found = {(row["system"], row["metric"]): row for row in table.iter_rows(named=True)}
    assert set(found) == {("beam", "evidence_recall"), ("beam", "token_f1")}
    assert found["beam", "evidence_recall"]["ratio"] == pytest.approx(0.32)
    assert found["beam", "token_f1"]["tokens"] == pytest.approx((64 + 512) / 2)
    assert found["beam", "token_f1"]["reference_tokens"] == 100  # at the budget of its answers
    assert not found["beam", "token_f1"]["at_most"]
    assert equal_quality(figures(beam), variants, "top5", CFG).is_empty()
    metrics = {"gemma": set(), "default": {"evidence_recall"}}  # tokens of another reader; answers of another model
    for name, left in metrics.items():
        other = {"reader": name} if name == "gemma" else {"answer": "endpoint, 512 tokens"}
        changed = [v | {"axes": v["axes"] | other} if v["system"] != "top5" else v for v in variants]
        table = equal_quality(figures([*reference, *beam, *short]), changed, "top5", CFG)
        assert set(table["metric"]) == left


def test_a_reference_of_two_orders_is_compared_order_by_order_and_one_of_a_single_order_with_all():
    rows = figures([("top5", "tokens@64", 50.0), ("top5", "evidence_recall@64", 0.4)])
    beam = figures([("beam", "tokens@64", 40.0), ("beam", "evidence_recall@64", 0.4)])
    cheap = pl.when(pl.col("metric") == "tokens@64").then(pl.col("value") / 2).otherwise("value")
    aware = [part.with_columns(order=pl.lit("aware")) for part in (rows.with_columns(value=cheap), beam)]
    variants = [variant(name, 64) for name in ("top5", "beam")]

    def ratios(*parts: pl.DataFrame) -> dict[str, float]:
        table = equal_quality(pl.concat(parts), variants, "top5", CFG)
        return dict(table.select("order", "ratio").iter_rows())

    assert ratios(rows, beam, *aware) == pytest.approx({"blind": 0.8, "aware": 1.6})
    assert ratios(rows, beam, aware[1]) == pytest.approx({"blind": 0.8, "aware": 0.8})
