"""The report's matched differences: our system against its plain twin first, then every pair that differs in one axis."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.evaluation.comparison import AXES
from secateur.evaluation.metric import figure_of
from secateur.report.format import bounds, cell, difference, form, p_value, row_name, said, sizes

__all__ = ["CLAIMED", "claim_parts", "claims", "headlines", "matched_parts"]

OURS, TWIN = "secateur", "title_zsum"
CLAIMED = ("evidence_recall", "evidence_coverage", "token_recall", "answer_gain")  # what a claim needs, together
CLAIMS = tuple(f"{name}@claim" for name in CLAIMED)
PAIR = ["system", "scorer", "baseline", "baseline_scorer"]
NOTE = (
    "Paired by question; interval and p are of one sign-flip test over resampling units; p is adjusted over the pairs of "
    "the same metric and order (Holm)."
)
Part = dict[str, Any]


def claims(comparisons: pl.DataFrame) -> pl.DataFrame:
    """The claim's rows: our system less its plain twin of the same assembly, whichever was listed first."""
    whole = _whole(comparisons).filter(pl.col("axis") == "ranker")
    rows = pl.concat([whole, _turned(whole)], how="diagonal")
    twin = (pl.col("baseline") == TWIN) | pl.col("baseline_scorer").str.starts_with(TWIN).fill_null(value=False)
    own = rows.filter((pl.col("system") == OURS) & twin & ~pl.col("baseline").str.contains(":"))
    place = {metric: n for n, metric in enumerate(CLAIMS)}
    return own.sort(pl.col("order") != "blind", pl.col("metric").replace_strict(place, return_dtype=pl.Int32))


def _whole(comparisons: pl.DataFrame) -> pl.DataFrame:
    """Differences over all questions, in the metrics of the claim."""
    return comparisons.filter((pl.col("subset") == "all") & pl.col("metric").is_in(CLAIMS))


def _turned(rows: pl.DataFrame) -> pl.DataFrame:
    """The same pairs seen from the other side."""
    swapped = {"system": "baseline", "scorer": "baseline_scorer", "baseline": "system", "baseline_scorer": "scorer"}
    return rows.with_columns(
        *(pl.col(old).alias(new) for new, old in swapped.items()),
        difference=-pl.col("difference"),
        low=-pl.col("high"),
        high=-pl.col("low"),
    )


def headlines(dataset: str, comparisons: pl.DataFrame) -> list[str]:
    """One sentence a row of the claim. comparisons: those of a data set, as `judged` gives them, here and below."""
    return [
        f"{dataset}, order-{row['order']}, {said(row['metric'])}: {OURS} less "
        f"{row_name(row['baseline'], row['baseline_scorer'])} is {row['difference']:+.3f} ({bounds(row)}; {p_value(row)}; "
        f"{sizes(row)})."
        for row in claims(comparisons).iter_rows(named=True)
    ]


def claim_parts(dataset: str, comparisons: pl.DataFrame) -> list[Part]:
    """The claim as a table, one line an order."""
    rows = claims(comparisons)
    if rows.is_empty():
        return []
    lines = []
    for (order,), own in rows.group_by("order", maintain_order=True):
        by = {row["metric"]: row for row in own.iter_rows(named=True)}
        twin = row_name(own["baseline"][0], own["baseline_scorer"][0])
        cells = [cell(f"order-{order}"), cell(twin), *(difference(by.get(metric)) for metric in CLAIMS)]
        lines.append({"form": "ours", "cells": cells})
    return [
        {
            "title": f"{OURS} less its plain twin",
            "text": "The same question, the same budget, the same form, packing and reader: only who ranks differs. Means "
            "over the budgets that are claimed (eval.claim).",
            "table": {"heads": ["order", "plain twin", *_heads(CLAIMS)], "rows": lines},
            "note": f"{NOTE} Rows: comparisons.parquet, dataset = {dataset}, system = {OURS}, axis = ranker.",
        }
    ]


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
