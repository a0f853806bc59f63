"""The report's sections on the policy and on memory."""

import polars as pl
from tests.support.report_rows import metric, pair

from secateur.core.tables.catalog import TABLES
from secateur.report.format import with_enough_data
from secateur.report.sections.memory import memory_parts
from secateur.report.sections.policy import policy_parts
from secateur.report.table import Number

COMMON = {"dataset": "d", "split": "test"}
POLICIES = {"policy": 0.5, "best_constant": 0.4, "oracle": 0.9, "fixed:a/b/c": 0.4, "fixed:c/b/a": 0.45}


def metrics() -> pl.DataFrame:
    terms = ("policy_utility", "policy_accuracy", "policy_tokens")
    rows = [metric("policy", m, v, s, n=9, units=9, **COMMON) for s, v in POLICIES.items() for m in terms]
    return pl.DataFrame(rows).with_columns(enough_data=pl.lit(True))


def comparisons() -> pl.DataFrame:
    row = pair("policy", "policy", scorer="policy", baseline_scorer="best_constant", axis="named", n=29, units=19)
    return with_enough_data(pl.DataFrame([row | COMMON | {"metric": "policy_utility"}]), 10)


def frontiers() -> pl.DataFrame:
    named = {"dataset": pl.lit("d"), "system": pl.lit("policy"), "order": pl.lit("blind")}
    return TABLES["frontier"].empty().with_columns(**named)


def test_the_policy_stands_first_and_fixed_configurations_best_first_and_too_little_has_no_plot():
    (part,) = policy_parts("d", metrics(), comparisons(), frontiers())
    names = [line[0] for line in part["table"].texts()]
    assert names == ["policy", "best_constant", "oracle", "c/b/a", "a/b/c"]
    difference = Number(0.1, 0.02, 0.2, ("p 0.0600", "29 questions in 19 units"))
    assert [row.cells[-1] for row in part["table"].rows] == [difference, None, None, None, None]
    assert "<svg" in part["figures"][0][0]
    assert "n = 9 questions, split test" in part["note"]
    few = metrics().with_columns(enough_data=pl.lit(False))
    (part,) = policy_parts("d", few, comparisons(), frontiers())
    assert (part["figures"], part["text"]) == ([], "Not enough data: 9 questions in 9 units.")
    other = metrics().with_columns(metric=pl.lit("f1_at_gold"))
    assert policy_parts("d", other, comparisons(), frontiers()) == memory_parts("d", other, {}) == []


def test_memory_shows_the_figures_it_has_in_one_order():
    values = {"memory_reuse": 0.5, "memory_tokens_first": 600.0, "memory_evidence_recall": 0.75}
    for n in (40, 15):  # a verdict needs more, means do not
        own = COMMON | {"low": None, "high": None, "n": n, "units": n}
        rows = with_enough_data(pl.DataFrame([metric("policy", m, v, **own) for m, v in values.items()]), 10)
        (part,) = memory_parts("d", rows, {})
        assert [line[1] for line in part["table"].texts()] == ["600", "0.500", "0.750"]
        assert part["figures"][0][0].count("fill: var(--imported)") == 2  # tokens are no shares
