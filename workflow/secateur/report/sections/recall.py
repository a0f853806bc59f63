"""The report's part on evidence: what of it the contexts hold at equal budgets, and how many tokens they use."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from secateur.config import plugins
from secateur.evaluation.metric import figure_of
from secateur.report.format import NOT_ENOUGH, figure, form, note, number, pivoted, sizes
from secateur.report.plots.charts import curves
from secateur.report.plots.style import inline
from secateur.report.sections.differences import CLAIMED
from secateur.report.table import Cell, Column

__all__ = ["panels_of", "recall_parts", "without_data"]

DRAWN = 3  # metrics that have curves
MAX_CURVES, RANKERS = 7, 2  # lines in one panel that stay readable, and rankers of a list among them
Part = dict[str, Any]


def recall_parts(dataset: str, own: pl.DataFrame, order: str) -> list[Part]:
    """Curves and tables of one order; words in the place of a curve that would rest on too little. own: the rows of
    `metrics` of a data set, with `name` and `enough_data`."""
    rows = _by_budget(own, order)
    present = _present(set(rows["metric"]))
    if not present:
        return []
    shown, where = rows.filter(pl.col("metric").is_in(present)), f"dataset = {dataset}, order = {order}"
    used = {(r["name"], r["budget"]): r["value"] for r in rows.filter(pl.col("metric") == "tokens").to_dicts()}
    drawn = [
        [inline(figure, f"{figure_of(metric).title} on {dataset}, order-{order}")]
        for metric, figure in panels_of(own, order)
    ]
    part = {
        "title": f"Order-{order}: what contexts hold, by the tokens that are sent",
        "figures": drawn,
        "text": _few(without_data(own, order)),
        "form": "curves",
        "note": note(shown, where) + " Band: the interval of the first line; the tables have all." * bool(drawn),
    }
    return [part, *(_metric_part(rows, metric, used, order, where) for metric in present)]


def _by_budget(own: pl.DataFrame, order: str) -> pl.DataFrame:
    """The rows of an order at a budget, with the budget as a number and the metric without it."""
    parts = pl.col("metric").str.split_exact("@", 1)
    whole = own.filter((pl.col("order") == order) & (pl.col("subset") == "all") & ~pl.col("published"))
    rows = whole.filter(pl.col("metric").str.contains(r"@\d+$")).with_columns(
        base=parts.struct.field("field_0"), budget=parts.struct.field("field_1").cast(pl.Int32)
    )
    return rows.drop("metric").rename({"base": "metric"})


def panels_of(own: pl.DataFrame, order: str) -> Iterator[tuple[str, Any]]:
    """(metric, figure) of one order, of what rests on enough, all with the same axis of values: from the last tenth below
    everything that is drawn.

    own: the rows of `metrics` of a data set, with `name` and `enough_data`.
    """
    rows = _by_budget(own, order)
    used = {(r["name"], r["budget"]): r["value"] for r in rows.filter(pl.col("metric") == "tokens").to_dicts()}
    rows = rows.filter(pl.col("metric").is_in(_present(set(rows["metric"]))[:DRAWN]) & pl.col("enough_data"))
    metrics = _present(set(rows["metric"]))
    if rows.is_empty():
        return
    keys = rows.select("name", "budget").iter_rows()
    sent = pl.Series([used.get((name, budget), float(budget)) for name, budget in keys], dtype=pl.Float64)
    drawn, rows = _drawn(rows), rows.with_columns(sent=sent)
    within = rows.filter(pl.col("name").is_in(list(drawn)))
    least, most = (within.select(pl.min("low", "value")).row(0), within.select(pl.max("high", "value")).row(0))
    ends = [f(v for v in pair if v is not None) for f, pair in ((min, least), (max, most))]
    limits = (math.floor(10 * ends[0]) / 10, math.ceil(10 * ends[1]) / 10)
    for metric in metrics:
        yield metric, curves(rows, metric, figure_of(metric).title, drawn, limits)


def without_data(own: pl.DataFrame, order: str) -> Iterator[tuple[str, str]]:
    """(metric, words) of one order, of what would have a curve but rests on too little."""
    rows = _by_budget(own, order)
    for metric in _present(set(rows["metric"]))[:DRAWN]:
        part = rows.filter(pl.col("metric") == metric).sort("n", descending=True)
        if not part["enough_data"].any():
            yield metric, f"{NOT_ENOUGH}, {sizes(part.row(0, named=True))}"


def _few(found: Iterable[tuple[str, str]]) -> str:
    """The metrics without a curve in a sentence, one for all that rest on the same."""
    by: dict[str, list[str]] = {}
    for metric, few in found:
        by.setdefault(few, []).append(figure_of(metric).title)
    return " ".join(f"{', '.join(titles).capitalize()}: {few}." for few, titles in by.items())


def _present(metrics: set[str]) -> list[str]:
    """The metrics of contexts that are shown, those that a claim needs first."""
    own = sorted(m for m in metrics if m in plugins.names("metric") or "." in m)
    first = [m for m in CLAIMED if m in own]
    return [*first, *(m for m in own if m not in first and figure_of(m).headline)]


def _metric_part(
    rows: pl.DataFrame, metric: str, used: Mapping[tuple[str, int], float], order: str, where: str
) -> Part:
    """One row a system, one column a budget, each with the tokens that were used of it."""
    part = rows.filter(pl.col("metric") == metric).sort("system", "scorer", nulls_last=True)
    floor = {
        (r["name"], r["budget"]): r["value"] for r in rows.filter(pl.col("metric") == f"{metric}_floor").to_dicts()
    }
    shown = figure_of(metric)
    columns = {
        budget: Column(f"{budget} tokens", shown.digits, shown.better) for budget in part["budget"].unique().sort()
    }

    def cell(row: Mapping[str, Any] | None) -> Cell:
        if row is None:
            return None
        key = (row["name"], row["budget"])
        sent = [f"{used[key]:.0f} used"] if key in used else []
        sent += [f"floor {number(floor[key], shown.digits)}"] if key in floor else []
        return figure(row, *sent)

    return {
        "title": f"Order-{order}: {shown.title}",
        "table": pivoted(part, columns, "budget", cell=cell),
        "note": note(part, f"{where}, metric = {metric}@B")
        + " Used: tokens of the context as sent (tokens@B), a mean."
        + (" Floor: the same of another question's context." if floor else ""),
    }


def _drawn(rows: pl.DataFrame) -> dict[str, int]:
    """Rows worth a curve, name -> colour: single systems, whole ones and ours first, then the best rankers of a list."""
    means = rows.filter(pl.col("metric") == rows["metric"][0]).group_by("name", "system", "scorer", maintain_order=True)
    best = means.agg(pl.col("value").mean()).sort("value", "name", descending=[True, False]).to_dicts()
    single = sorted((row for row in best if row["scorer"] is None), key=_worth)
    listed = [row for row in best if row["scorer"] is not None]
    room = MAX_CURVES - min(RANKERS, len(listed))
    return {row["name"]: n for n, row in enumerate([*single[:room], *listed][:MAX_CURVES])}


def _worth(row: Mapping[str, Any]) -> tuple:
    """What is drawn first: systems as they are, then ours with one option changed."""
    return ":" in row["system"], form(row["system"]) != "ours", row["name"]
