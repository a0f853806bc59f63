"""The report's part on answers: how good they are under each system's context, what they cost, and differences."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.report.format import cell, difference, dots, form, interval, number
from secateur.report.sections.judging import judged_parts

__all__ = ["answer_parts"]

HEADS = {  # metric: (head of its column, digits)
    "rouge_l": ("ROUGE-L", 3),
    "token_f1": ("token F1", 3),
    "exact_match": ("exact match", 3),
    "refused": ("refused", 3),
    "read_gain": ("answer gain", 3),
    "read_evidence_recall": ("evidence recall", 3),
    "read_token_recall": ("token recall", 3),
    "read_tokens": ("prompt tokens", 0),
    "completion_tokens": ("answer tokens", 0),
}
TESTED = ("rouge_l", "token_f1", "read_gain")
DRAWN, SHOWN = "rouge_l", 8  # what is drawn, and of how many rows
ABOUT = (
    " The same instructions and questions under each system's context, answered by one model without sampling. "
    "closed_book shows no context: what the model knows already. Evidence and answer gain are of what really reached "
    "the prompt; gain is in nats per token of the gold answer."
)
UNJUDGED = (
    " Words are compared, no judge is asked: an answer in other words scores low. Pairs differ in one axis. p: sign flips "
    "over resampling units, two-sided, adjusted over the pairs of the same metric and order (Holm)."
)


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of all questions with the name of their line: its order counts where a system has several."""
    several = pl.len().over("system", "metric", "baseline") > 1
    order = pl.when(several).then(" · order-" + pl.col("order"))
    return rows.with_columns(name=pl.col("system") + order.fill_null(""))


def _figures(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One line a system, one column a metric."""
    metrics = [metric for metric in HEADS if metric in set(own["metric"])]
    lines = []
    for (name,), part in own.sort("name").group_by("name", maintain_order=True):
        by = {row["metric"]: row for row in part.iter_rows(named=True)}
        shown = [(by.get(metric), HEADS[metric][1]) for metric in metrics]
        cells = [cell(number(r["value"], d), interval(r, d)) if r else cell("") for r, d in shown]
        lines.append({"form": form(part["system"][0]), "cells": [cell(name), *cells]})
    n = ", ".join(map(str, own["n"].unique().sort()))
    return {
        "title": "Answers: figures",
        "table": {"heads": ["system", *(HEADS[metric][0] for metric in metrics)], "rows": lines},
        "note": f"n = {n} questions (fewer where they have no gold evidence), split {own['split'][0]}, 95 % intervals. "
        f"Rows: dataset = {dataset}, metric = {', '.join(metrics)}.",
    }


def _drawn(dataset: str, own: pl.DataFrame, families: Mapping[str, str]) -> dict[str, Any]:
    """The best answers as a plot."""
    rows = own.filter(pl.col("metric") == DRAWN).sort("value", "name", descending=[True, False])
    drawn = dots(rows, families, f"ROUGE-L on {dataset}", "ROUGE-L of the answer, mean", SHOWN)
    note = (drawn.get("note", "") + ABOUT).strip()
    return {"title": "Answers under each context", "open": True} | drawn | {"note": note}


def _differences(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One line a pair, one column a metric."""
    lines = []
    pairs = own.sort("baseline", "name").group_by("name", "baseline", "axis", maintain_order=True)
    for names, part in pairs:
        by = {row["metric"]: row for row in part.iter_rows(named=True)}
        lines.append({"form": "", "cells": [*map(cell, names), *(difference(by.get(metric)) for metric in TESTED)]})
    return {
        "title": "Answers: differences, paired by question",
        "table": {"heads": ["system", "less", "differs in", *(HEADS[metric][0] for metric in TESTED)], "rows": lines},
        "note": f"comparisons.parquet, dataset = {dataset}." + UNJUDGED,
    }


def answer_parts(
    dataset: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The parts of one data set; none where no question was answered. metrics, comparisons: its rows, with `enough_data`."""
    whole = pl.col("subset") == "all"
    rows = _named(metrics.filter(whole & pl.col("metric").is_in(list(HEADS))).with_columns(baseline=pl.lit("")))
    if not rows.height:
        return
    yield _drawn(dataset, rows, families)
    yield _figures(dataset, rows)
    against = _named(comparisons.filter(whole & pl.col("metric").is_in(TESTED)))
    if against.height:
        yield _differences(dataset, against)
    by_judges = metrics.filter(whole & pl.col("metric").str.starts_with("judge")).with_columns(baseline=pl.lit(""))
    yield from judged_parts(_named(by_judges))
