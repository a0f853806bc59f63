"""The report's part on evidence: how much of it contexts hold at equal budgets, and how many tokens they use."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.evaluation.figure import figure_of, headlines
from secateur.report.format import Part, aware_named, figure, note, number, of_fewer, pivoted, style
from secateur.report.plots.charts import curves
from secateur.report.plots.style import inline
from secateur.report.table import Column, Number

__all__ = ["panels_of", "recall_parts"]

DRAWN = 3  # metrics that have curves
MAX_CURVES, RANKERS = 10, 3  # lines in one panel that stay readable, and rankers of a list among them


def recall_parts(dataset: str, rows: pl.DataFrame, order: str) -> list[Part]:
    """Curves and tables of one order. rows: of `metrics`, of a data set, with `name`."""
    at_budgets = _by_budget(rows, order)
    metrics = _shown(at_budgets)
    if not metrics:
        return []
    drawn = [
        [inline(panel, f"{figure_of(metric).title} on {dataset}, order-{order}")]
        for metric, panel in panels_of(rows, order)
    ]
    about = note(at_budgets.filter(pl.col("metric").is_in(metrics)), dataset=dataset, order=order)
    part = {
        "title": f"Order-{order}: what contexts hold, by the tokens that are sent",
        "figures": drawn,
        "note": about
        + " Band: the interval of the first line; the tables have all." * bool(drawn)
        + _undrawn(at_budgets),
    }
    return [part, *(_metric_part(at_budgets, metric, dataset, order) for metric in metrics)]


def _by_budget(rows: pl.DataFrame, order: str) -> pl.DataFrame:
    """The rows of an order at a budget, with the budget as a number and the metric without it."""
    at_budget = rows.filter(pl.col("metric").str.contains(r"@\d+$"), ~pl.col("published"), order=order, subset="all")
    fields = pl.col("metric").str.split_exact("@", 1).struct
    return aware_named(at_budget).with_columns(
        metric=fields.field("field_0"), budget=fields.field("field_1").cast(pl.Int32)
    )


def _of_own_length(rows: pl.DataFrame, order: str) -> pl.DataFrame:
    """The rows made elsewhere, which have one length: each a point at the mean of its tokens."""
    fields = pl.col("metric").str.split_exact("@", 1).struct
    split = rows.with_columns(metric=fields.field("field_0"), at=fields.field("field_1"))
    points = split.filter(pl.col("system").str.split(":").list.first() == pl.col("at"), order=order, subset="all")
    tokens = points.filter(metric="tokens").select("name", budget=pl.col("value").round().cast(pl.Int32))
    return aware_named(points.join(tokens, on="name")).drop("at")


def _of_metric(rows: pl.DataFrame, metric: str) -> dict[tuple[str, int], float]:
    """(name, budget) -> value of a metric."""
    return {
        (name, at): value for name, at, value in rows.filter(metric=metric).select("name", "budget", "value").rows()
    }


def _shown(rows: pl.DataFrame) -> list[str]:
    """The metrics of contexts that are shown, those that a claim needs first."""
    return headlines(sorted(m for m in set(rows["metric"]) if m in plugins.names("metric") or "." in m))


def panels_of(rows: pl.DataFrame, order: str) -> Iterator[tuple[str, Any]]:
    """(metric, figure) of one order.

    All have the same axis of values, from the last tenth below everything that is drawn. rows: of `metrics`, of a data
    set, with `name`.
    """
    at_budgets = pl.concat([_by_budget(rows, order), _of_own_length(rows, order)])
    used = _of_metric(at_budgets, "tokens")
    drawn = at_budgets.filter(pl.col("metric").is_in(_shown(at_budgets)[:DRAWN]), ~of_fewer("metric"))
    metrics = _shown(drawn)
    if drawn.is_empty():
        return
    keys = drawn.select("name", "budget").iter_rows()
    sent = pl.Series("sent", [used.get((name, budget), float(budget)) for name, budget in keys], pl.Float64)
    drawn, colours = drawn.with_columns(sent), _colours(drawn)
    within = drawn.filter(pl.col("name").is_in(list(colours)))
    least = within.select(pl.min_horizontal("low", "value").min()).item()
    most = within.select(pl.max_horizontal("high", "value").max()).item()
    limits = (math.floor(10 * least) / 10, math.ceil(10 * most) / 10)
    for metric in metrics:
        yield metric, curves(drawn, metric, figure_of(metric).title, colours, limits)


def _metric_part(rows: pl.DataFrame, metric: str, dataset: str, order: str) -> Part:
    """A row a system, a column a budget, each cell with the tokens used of the budget."""
    part = rows.filter(metric=metric).sort("system", "scorer", nulls_last=True)
    used, floor, shown = _of_metric(rows, "tokens"), _of_metric(rows, f"{metric}_floor"), figure_of(metric)

    def cell(row: Mapping[str, Any]) -> Number:
        key = (row["name"], row["budget"])
        notes = [f"{used[key]:.0f} used"] if key in used else []
        notes += [f"floor {number(floor[key], shown.digits)}"] if key in floor else []
        return figure(row, *notes)

    budgets = part["budget"].unique().sort()
    columns = {budget: Column(f"{budget} tokens", shown.digits, shown.better) for budget in budgets}
    return {
        "title": f"Order-{order}: {shown.title}",
        "table": pivoted(part, columns, "budget", cell=cell),
        "note": note(part, dataset=dataset, order=order, metric=f"{metric}@B")
        + " Used: tokens of the context as sent (tokens@B), a mean."
        + " Floor: the same of another question's context." * bool(floor),
    }


def _undrawn(rows: pl.DataFrame) -> str:
    """The rows that have no line: of fewer questions than others, or more than MAX_CURVES, which cannot be told apart."""
    shown = rows.filter(pl.col("metric").is_in(_shown(rows)[:1]))
    drawn = shown.filter(~of_fewer("metric"))
    left = sorted(set(shown["name"]) - set(_colours(drawn))) if drawn.height else []
    return f" Not drawn: {', '.join(left)}." if left else ""


def _colours(rows: pl.DataFrame) -> dict[str, int]:
    """Name -> number of its colour, of the rows drawn: whole systems and ours first, then the best rankers of a list."""
    means = rows.filter(metric=rows["metric"][0]).group_by("name", "system", "scorer", maintain_order=True)
    best = means.agg(pl.col("value").mean()).sort("value", "name", descending=[True, False]).to_dicts()
    single = [row for row in best if row["scorer"] is None]
    single.sort(key=lambda row: (":" in row["system"], style(row) != "ours", row["name"]))
    listed = [row for row in best if row["scorer"] is not None]
    room = MAX_CURVES - min(RANKERS, len(listed))
    return {row["name"]: n for n, row in enumerate([*single[:room], *listed][:MAX_CURVES])}
