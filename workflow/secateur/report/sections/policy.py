"""The report's section on the compression policy: what it is worth beside fixed configurations, and its frontier."""

from typing import Any

import polars as pl

from secateur.report.format import difference, figure, not_enough_data
from secateur.report.plots.charts import frontier
from secateur.report.plots.style import inline
from secateur.report.table import Column, Number, Row, Table

__all__ = ["policy_parts"]

TERMS = {
    "policy_utility": Column("utility"),
    "policy_accuracy": Column("accuracy"),
    "policy_tokens": Column("prompt tokens", 0),
}
FIRST = ("policy", "best_constant", "classifier", "random", "oracle")  # then the fixed configurations, best first
AGAINST = "best_constant"
SHORT = 6  # lines of the table that stand open
Part = dict[str, Any]


def _order(own: pl.DataFrame) -> list[str]:
    """The policies in the order of the table's lines."""
    fixed = own.filter((pl.col("metric") == "policy_utility") & pl.col("scorer").str.starts_with("fixed:"))
    have = set(own["scorer"])
    return [name for name in FIRST if name in have] + fixed.sort("value", "scorer", descending=[True, False])[
        "scorer"
    ].to_list()


def _minus_constant(against: pl.DataFrame, scorer: str) -> Number | None:
    row = against.filter(
        (pl.col("scorer") == scorer) & (pl.col("metric") == "policy_utility") & (pl.col("baseline_scorer") == AGAINST)
    )
    return difference(None if row.is_empty() else row.row(0, named=True))


def _table(own: pl.DataFrame, against: pl.DataFrame) -> Table:
    rows = []
    for scorer in _order(own):
        by = {row["metric"]: row for row in own.filter(pl.col("scorer") == scorer).iter_rows(named=True)}
        cells = (scorer.removeprefix("fixed:"), *(figure(by[m]) for m in TERMS), _minus_constant(against, scorer))
        rows.append(Row(cells, "ours" if scorer == "policy" else ""))
    return Table([Column("policy"), *TERMS.values(), Column(f"utility minus {AGAINST}", signed=True)], rows)


def _named(own: pl.DataFrame) -> pl.DataFrame:
    """One row a policy: tokens and accuracy."""
    return own.pivot("metric", index="scorer", values="value").select(
        name="scorer", tokens="policy_tokens", accuracy="policy_accuracy"
    )


def policy_parts(dataset: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, frontiers: pl.DataFrame) -> list[Part]:
    """The parts of each system of a data set whose rows are of policies. frontiers: dataset, system, order and the
    columns of the table frontier."""
    rows = metrics.filter(pl.col("metric").is_in(list(TERMS)) & (pl.col("subset") == "all"))
    parts = []
    for (system, order), own in rows.group_by("system", "order", maintain_order=True):
        same = (pl.col("system") == system) & pl.col("order").eq_missing(order)
        line = frontiers.filter(same & (pl.col("dataset") == dataset)).sort("share")
        n, split = own["n"][0], own["split"][0]
        where = f"dataset = {dataset}, system = {system}, metric = policy_*"
        parts.append(
            {
                "title": f"{system}: what the compression policy is worth",
                "figures": [[inline(frontier(_named(own), line), f"accuracy against prompt tokens on {dataset}")]]
                if own["enough_data"].any()
                else [],
                "text": not_enough_data(own),
                "form": "bars",
                "table": _table(own, comparisons.filter(same & (pl.col("subset") == "all"))),
                "short": SHORT,
                "note": f"n = {n} questions, split {split}, 95 % intervals. Rows: {where}. Names: actions on questions / "
                "answers / facts. The oracle sees each question's own utilities. p: sign flips, two-sided, adjusted for all pairs (Holm).",
            }
        )
    return parts
