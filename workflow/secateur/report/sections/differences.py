"""The report's matched differences: every pair of rows that differs in one axis."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.evaluation.comparison import AXES
from secateur.evaluation.metric import figure_of
from secateur.report.format import cell, difference, form, row_name

__all__ = ["CLAIMED", "matched_parts"]

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


def matched_parts(dataset: str, comparisons: pl.DataFrame) -> list[Part]:
    """All matched differences in the metrics of the claim, one table an axis, one line a pair."""
    return list(_by_axis(dataset, _whole(comparisons)))


def _by_axis(dataset: str, rows: pl.DataFrame) -> Iterator[Part]:
    for axis in AXES:
        own = rows.filter(pl.col("axis") == axis).sort(pl.col("order") != "blind", maintain_order=True)
        if own.is_empty():
            continue
        metrics = [metric for metric in CLAIMS if metric in set(own["metric"])]
        pairs = own.group_by("order", *PAIR, maintain_order=True)
        yield {
            "title": f"Matched differences: {axis}",
            "table": {
                "heads": ["row", "less", "order", *_heads(metrics)],
                "rows": [_line(pair, metrics) for _, pair in pairs],
            },
            "note": f"{NOTE} Rows: comparisons.parquet, dataset = {dataset}, axis = {axis}.",
        }


def _line(pair: pl.DataFrame, metrics: list[str]) -> Mapping[str, Any]:
    """One pair of one order, one cell a metric."""
    by = {row["metric"]: row for row in pair.iter_rows(named=True)}
    one = pair.row(0, named=True)
    names = [row_name(one["system"], one["scorer"]), row_name(one["baseline"], one["baseline_scorer"]), one["order"]]
    cells = [*(cell(name or "") for name in names), *(difference(by.get(metric)) for metric in metrics)]
    return {"form": form(one["system"]), "cells": cells}


def _heads(metrics) -> list[str]:
    return [figure_of(metric.partition("@")[0]).title for metric in metrics]
