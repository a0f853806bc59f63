"""The report's part on answer gain: what contexts add to the gold answer's log-probability, beside its controls."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.report.format import dots, note, pivoted
from secateur.report.table import Column

__all__ = ["gain_parts"]

GAIN, SHUFFLED, OWN, CLOSED = "answer_gain@", "answer_gain_shuffled@", "answer_gain_own@", "closed_book"
CLAIM = "answer_gain@claim"
SHOWN = 8  # rows that are drawn
ABOUT = (
    " Nats per token of the gold answer above no context at all (closed_book: its log-probability there); another "
    "question's: the context of another question, as a control; above it: what is left without what any text of that form gains."
)


def gain_parts(dataset: str, own: pl.DataFrame, order: str, families: Mapping[str, str]) -> list[dict[str, Any]]:
    """A plot of the claim and a table of one order; none where nothing was measured. own: rows of `metrics` of a data set,
    with `name`."""
    measured = pl.col("metric").str.contains(rf"^(({GAIN}|{SHUFFLED}|{OWN})\d+|{CLOSED})$")
    rows = own.filter((pl.col("order") == order) & (pl.col("subset") == "all") & measured)
    if rows.is_empty():
        return []
    columns = {metric: Column(_head(metric), best=_best(metric)) for metric in sorted(set(rows["metric"]), key=_place)}
    whole = (pl.col("order") == order) & (pl.col("subset") == "all") & (pl.col("metric") == CLAIM)
    claimed = own.filter(whole).sort("value", "name", descending=[True, False])
    xlabel = "nats a token of the gold answer above no context, mean over the budgets"
    drawn = {"title": f"Order-{order}: answer gain at equal tokens"}
    drawn |= dots(claimed, families, f"answer gain on {dataset}, order-{order}", xlabel, SHOWN)
    return [
        *([drawn] if claimed.height else []),
        {
            "title": f"Order-{order}: answer gain by budget",
            "table": pivoted(rows.sort("system", "scorer", nulls_last=True), columns, "metric"),
            "note": note(rows, f"dataset = {dataset}, order = {order}, metric = {GAIN}B") + ABOUT,
        },
    ]


def _place(metric: str) -> tuple:
    """Gains by budget, then controls."""
    kinds = (GAIN, SHUFFLED, OWN, CLOSED)
    after = next(n for n, kind in enumerate(kinds) if metric.startswith(kind))
    return after, int(metric.partition("@")[2] or 0)


def _best(metric: str) -> str:
    return "higher" if metric.startswith((GAIN, OWN)) else ""


def _head(metric: str) -> str:
    base, _, budget = metric.partition("@")
    heads = {GAIN: f"{budget} tokens", SHUFFLED: f"another question's, {budget}", OWN: f"above it, {budget}"}
    return heads.get(f"{base}@", "closed book")
