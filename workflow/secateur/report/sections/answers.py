"""The report's section on answers: how good they are under each system's context, what they cost, and differences."""

from typing import Any

import polars as pl

from secateur.report.format import OURS, cell, interval, number

__all__ = ["answer_section"]

HEADS = {  # metric: (head of its column, digits)
    "rouge_l": ("ROUGE-L", 3),
    "token_f1": ("token F1", 3),
    "exact_match": ("exact match", 3),
    "refused": ("refused", 3),
    "read_lift": ("answer lift", 3),
    "read_exact": ("evidence exact", 3),
    "read_novel": ("evidence novel", 3),
    "read_tokens": ("prompt tokens", 0),
    "completion_tokens": ("answer tokens", 0),
}
TESTED = ("rouge_l", "token_f1", "read_lift")
ABOUT = (
    "The same instructions and questions under each system's context, answered by one model without sampling. "
    "closed_book shows no context: what the model knows already. Evidence and answer lift are of what really reached "
    "the prompt; lift is in nats per token of the gold answer."
)
UNJUDGED = (
    " Words are compared, no judge is asked: an answer in other words scores low. p: sign flips over resampling units, "
    "two-sided, not corrected for the number of rows."
)


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of all questions with the name of their line: a graph's track counts, a context has one."""
    track = pl.when(pl.len().over("dataset", "system", "metric", "baseline") > 1).then(" · order-" + pl.col("track"))
    return rows.with_columns(name=pl.col("system") + track.fill_null(""))


def _figures(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One line a system, one column a metric."""
    metrics = [metric for metric in HEADS if metric in set(own["metric"])]
    lines = []
    for (name,), part in own.sort("name").group_by("name", maintain_order=True):
        by = {row["metric"]: row for row in part.iter_rows(named=True)}
        shown = [(by.get(metric), HEADS[metric][1]) for metric in metrics]
        cells = [cell(number(r["value"], d), interval(r, d)) if r else cell("") for r, d in shown]
        form = "ours" if name.startswith(OURS) else ""
        lines.append({"form": form, "cells": [cell(name), *cells]})
    n = ", ".join(map(str, own["n"].unique().sort()))
    return {
        "title": f"{dataset}: answers",
        "table": {"heads": ["system", *(HEADS[metric][0] for metric in metrics)], "rows": lines},
        "note": f"n = {n} questions (fewer where they have no gold evidence), split {own['split'][0]}, 95 % intervals. "
        f"Rows: dataset = {dataset}, metric = {', '.join(metrics)}.",
    }


def _differences(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One line a system and a system it is compared with, one column a metric."""
    lines = []
    for (name, baseline), part in own.sort("baseline", "name").group_by("name", "baseline", maintain_order=True):
        by = {row["metric"]: row for row in part.iter_rows(named=True)}
        cells = [
            cell(f"{r['difference']:+.3f}", f"{r['low']:+.3f} to {r['high']:+.3f}, p {r['p']:.4f}") if r else cell("")
            for r in map(by.get, TESTED)
        ]
        lines.append({"form": "", "cells": [cell(name), cell(baseline), *cells]})
    return {
        "title": f"{dataset}: differences of answers, paired by question",
        "table": {"heads": ["system", "compared with", *(HEADS[metric][0] for metric in TESTED)], "rows": lines},
        "note": f"comparisons.parquet, dataset = {dataset}." + UNJUDGED,
    }


def answer_section(metrics: pl.DataFrame, comparisons: pl.DataFrame) -> dict[str, Any] | None:
    """The section; None where no question was answered."""
    whole = pl.col("subset") == "all"
    rows = _named(metrics.filter(whole & pl.col("metric").is_in(list(HEADS))).with_columns(baseline=pl.lit("")))
    if not rows.height:
        return None
    against = _named(comparisons.filter(whole & pl.col("metric").is_in(TESTED)))
    parts = []
    for (dataset,), own in rows.group_by("dataset", maintain_order=True):
        tested = against.filter(pl.col("dataset") == dataset)
        parts += [_figures(dataset, own)] + ([_differences(dataset, tested)] if tested.height else [])
    return {"title": "Answers", "about": ABOUT, "parts": parts}
