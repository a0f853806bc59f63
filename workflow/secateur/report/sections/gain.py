"""The report's part on answer gain: what contexts add to the gold answer's log-probability, beside its controls."""

from collections.abc import Iterator, Mapping

import polars as pl

from secateur.report.format import Part, aware_named, dots, note, of_fewer, pivoted
from secateur.report.table import Column

__all__ = ["gain_parts"]

HEADS = {  # metric without its budget -> head of its column
    "answer_gain": "{} tokens",
    "answer_gain_shuffled": "another question's, {}",
    "answer_gain_own": "above it, {}",
    "closed_book": "closed book",
}
BEST = ("answer_gain", "answer_gain_own")
SHOWN = 8  # rows of the plot
ABOUT = (
    " Nats per token of the gold answer above no context at all (closed_book: its log-probability there). Another "
    "question's: the context of another question, as a control. Above it: the gain minus that of the control."
)


def gain_parts(dataset: str, rows: pl.DataFrame, order: str, families: Mapping[str, str]) -> Iterator[Part]:
    """A plot of the claim and a table of one order; none where nothing was measured.

    rows: of `metrics`, of a data set, with `name` and `enough_data`.
    """
    whole = aware_named(rows.filter(order=order, subset="all"))
    measured = whole.filter(pl.col("metric").str.contains(rf"^({'|'.join(HEADS)})(@\d+)?$"))
    if measured.is_empty():
        return
    claimed = whole.filter(metric="answer_gain@claim")
    claimed = claimed.sort(of_fewer(), "value", "name", descending=[False, True, False])
    if claimed.height:
        xlabel = "nats a token of the gold answer above no context, mean over the budgets"
        drawn = dots(claimed, families, f"answer gain on {dataset}, order-{order}", xlabel, SHOWN)
        yield {"title": f"Order-{order}: answer gain at equal tokens", **drawn}
    columns = {}
    for metric in sorted(set(measured["metric"]), key=_place):
        base, _, budget = metric.partition("@")
        columns[metric] = Column(HEADS[base].format(budget), best="higher" if base in BEST else "")
    yield {
        "title": f"Order-{order}: answer gain by budget",
        "table": pivoted(measured.sort("system", "scorer", nulls_last=True), columns, "metric"),
        "note": note(measured, dataset=dataset, order=order, metric="answer_gain@B") + ABOUT,
    }


def _place(metric: str) -> tuple[int, int]:
    """Gains by budget, then controls."""
    base, _, budget = metric.partition("@")
    return list(HEADS).index(base), int(budget or 0)
