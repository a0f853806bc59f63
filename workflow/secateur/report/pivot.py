"""One table for a paper: a row a system, a column a budget or a metric, the best in bold, † where a difference is significant."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from secateur.core.errors import one_of
from secateur.evaluation.comparison import significant
from secateur.evaluation.figure import figure_of
from secateur.evaluation.verdict import enough_data
from secateur.report.finding import CONTROL, both_ways, main_metric, main_subset
from secateur.report.format import named, of_fewer
from secateur.report.leaderboard import title_of
from secateur.report.table import Cell, Column, Number, Row, Table

__all__ = ["pivot"]

MARK = "†"


def pivot(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
    claimed: Sequence[int],
    *,
    dataset: str | None = None,
    metric: str | None = None,
    order: str | None = None,
    baseline: str | None = None,
) -> Table:
    """A metric at all of its budgets, or several metrics (`a,b@64`), of one data set and order.

    metric: by default that of the finding; order: by default blind, where a row is; baseline: the row that † refers to, by
    default the plain ranking with the highest mean. Raises SecateurError for unknown names, with the allowed ones.
    """
    rows = named(metrics.filter(~pl.col("published"), ~pl.col("answer_aware")))
    dataset = _one("data set", dataset, rows["dataset"])
    rows, pairs = rows.filter(dataset=dataset), both_ways(comparisons.filter(dataset=dataset))
    subset = main_subset(rows)
    order = _one("order", order, rows["order"].sort(descending=True, nulls_last=True))
    here = pl.col("subset").eq_missing(pl.lit(subset)) & pl.col("order").eq_missing(pl.lit(order))
    rows, pairs = rows.filter(here), named(pairs.filter(here))
    asked = (
        metric or (main_metric(comparisons.filter(dataset=dataset), families) or rows["metric"][0]).partition("@")[0]
    )
    columns = _columns(asked, rows["metric"].unique(maintain_order=True).to_list(), claimed)
    rows = rows.filter(pl.col("metric").is_in(list(columns))).with_columns(few=of_fewer("metric"))
    leading = next((name for name in columns if name.endswith("@claim")), next(iter(columns)))
    first = rows.filter(metric=leading).sort("few", "value", "name", descending=[False, True, False])
    plain = [name for name, system in first.select("name", "system").iter_rows() if families.get(system) == "lexical"]
    baseline = _one("baseline", baseline, first["name"]) if baseline else next(iter(plain), None)
    wins = {
        (row["name"], row["metric"])
        for row in pairs.filter(minus=baseline).iter_rows(named=True)
        if enough_data(row["n"], row["units"], min_units) and significant(row["p_holm"])
    }
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows.iter_rows(named=True):
        place = (row["name"], row["metric"])
        is_control = families.get(row["system"]) == CONTROL
        mark = MARK * (place in wins) + f" (n {row['n']})" * row["few"]
        cells[place] = Number(row["value"], mark=mark, apart=row["few"] or is_control)
    systems = dict(first.select("name", "system").iter_rows()) | dict(rows.select("name", "system").iter_rows())
    ranked = sorted(systems, key=lambda name: families.get(systems[name]) == CONTROL)
    lines = [Row((name, *(cells.get((name, column)) for column in columns))) for name in ranked]
    titles = list(dict.fromkeys(figure_of(name.partition("@")[0]).title for name in columns))
    title = " and ".join(titles).capitalize()
    if len(columns) > len(titles) == 1:
        mean = "" if leading.startswith("answer_gain") else f" (mean: of {min(claimed)} to {max(claimed)})"
        title += f" by budget in tokens{mean}"
    return Table([Column("", align="left"), *columns.values()], lines, _caption(rows, title, dataset, order, baseline))


def _one(what: str, wanted: str | None, values: pl.Series) -> str | None:
    """The wanted value, or the first. Raises SecateurError for one that is not there."""
    present = values.unique(maintain_order=True).to_list()
    return one_of(what, wanted, map(str, present)) if wanted else next(iter(present), None)


def _columns(asked: str, present: Sequence[str], claimed: Sequence[int]) -> dict[str, Column]:
    """Metric with its budget -> column. asked: metrics between commas; one without a budget stands for all of its budgets."""
    names: list[str] = []
    for metric in asked.split(","):
        matches = [name for name in present if metric in (name, name.partition("@")[0])]
        if not matches:
            one_of("metric", metric, (name.partition("@")[0] for name in present))
        names += sorted(matches, key=_budget)
    several = len({name.partition("@")[0] for name in names}) > 1
    columns = {}
    for name in names:
        shown, (title, budget) = figure_of(name.partition("@")[0]), title_of(name, claimed)
        head = " ".join([title] * (several or not budget) + [budget.replace("within ", "")] * bool(budget))
        if budget and not several:  # the caption says the rest once
            head = "mean" if name.endswith("@claim") else head.removesuffix(" tokens")
        columns[name] = Column(head, shown.digits, shown.better)
    return columns


def _budget(metric: str) -> float:
    """Its budget; the mean over budgets comes last."""
    at = metric.partition("@")[2]
    return float(at) if at.isdigit() else math.inf


def _caption(rows: pl.DataFrame, title: str, dataset: str, order: str | None, baseline: str | None) -> str:
    counts, units = (sorted(rows[column].drop_nulls().unique().to_list()) for column in ("n", "units"))
    sizes = " in ".join(
        f"{values[0] if len(values) == 1 else f'{values[0]} to {values[-1]}'} {noun}"
        for values, noun in ((counts, "questions"), (units, "resampling units"))
        if values
    )
    against = f" {MARK}: differs from {baseline} at .05, paired sign-flip test, after Holm." if baseline else ""
    where = f"{dataset}, order-{order}" if order else dataset
    return f"{title} on {where}; means over {sizes}. Bold: the best.{against}"
