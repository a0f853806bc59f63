"""The report's paired differences: every pair of rows that differ in one axis."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from secateur.evaluation.comparison import AXES
from secateur.evaluation.metric import figure_of
from secateur.report.format import difference, form, row_name
from secateur.report.table import Column, Row, Table

__all__ = ["CLAIMED", "paired_parts"]

CLAIMED = ("evidence_recall", "evidence_coverage", "token_recall", "answer_gain")  # what a claim needs, together
CLAIMS = tuple(f"{name}@claim" for name in CLAIMED)
PAIR = ["system", "scorer", "baseline", "baseline_scorer"]
NOTE = (
    "Paired by question; interval and p are of one sign-flip test over resampling units; p is adjusted over the pairs of "
    "the same metric and order (Holm)."
)
Part = dict[str, Any]


def _whole(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Differences over all questions, in the metrics of the claim."""
    return comparisons.filter((pl.col("subset") == "all") & pl.col("metric").is_in(CLAIMS))


def paired_parts(dataset: str, comparisons: pl.DataFrame) -> list[Part]:
    """All paired differences in the metrics of the claim, one table an axis, one row a pair."""
    return list(_by_axis(dataset, _whole(comparisons)))


def _by_axis(dataset: str, rows: pl.DataFrame) -> Iterator[Part]:
    for axis in AXES:
        own = rows.filter(pl.col("axis") == axis).sort(pl.col("order") != "blind", maintain_order=True)
        if own.is_empty():
            continue
        metrics = [metric for metric in CLAIMS if metric in set(own["metric"])]
        columns = [Column("row"), Column("minus", align="left"), Column("order", align="left")]
        columns += [Column(figure_of(metric.partition("@")[0]).title, signed=True) for metric in metrics]
        yield {
            "title": f"Paired differences: {axis}",
            "table": Table(
                columns, [_row(pair, metrics) for _, pair in own.group_by("order", *PAIR, maintain_order=True)]
            ),
            "note": f"{NOTE} Rows: comparisons.parquet, dataset = {dataset}, axis = {axis}.",
        }


def _row(pair: pl.DataFrame, metrics: list[str]) -> Row:
    """One pair of one order, one cell a metric."""
    by = {row["metric"]: row for row in pair.iter_rows(named=True)}
    one = pair.row(0, named=True)
    names = (row_name(one["system"], one["scorer"]), row_name(one["baseline"], one["baseline_scorer"]), one["order"])
    return Row((*names, *(difference(by.get(metric)) for metric in metrics)), form(one["system"]))
