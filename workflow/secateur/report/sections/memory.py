"""The report's section on memory: what later questions of a session still have to send."""

from typing import Any

import polars as pl

from secateur.report.format import cell, interval, number

__all__ = ["ROWS", "memory_parts"]

ROWS = {  # metric: what it is called, digits
    "memory_tokens_first": ("tokens of a session's first prompt", 0),
    "memory_tokens_later": ("tokens of a later prompt, as sent", 0),
    "memory_tokens_later_alone": ("the same without memory", 0),
    "memory_tokens_to_first": ("a later prompt over its session's first", 3),
    "memory_reuse": ("needed symbols and edges that the session has met", 3),
    "memory_growth_first": ("symbols and edges that a first question adds", 0),
    "memory_growth_later": ("symbols and edges that a later question adds", 0),
    "memory_evidence_recall": ("evidence recall of all that the reader holds", 3),
    "memory_evidence_recall_alone": ("evidence recall without memory", 3),
    "memory_evidence_recall_equal": ("evidence recall without memory, at the tokens sent with it", 3),
    "memory_evidence_recall_gain": ("what memory gives at equal tokens sent", 3),
    "memory_token_recall": ("token recall of all that the reader holds", 3),
    "memory_token_recall_alone": ("token recall without memory", 3),
    "memory_token_recall_equal": ("token recall without memory, at the tokens sent with it", 3),
    "memory_token_recall_gain": ("what memory gives at equal tokens sent", 3),
}
Part = dict[str, Any]


def _line(row: dict[str, Any]) -> Part:
    said, digits = ROWS[row["metric"]]
    cells = [cell(said), cell(number(row["value"], digits), interval(row, digits)), cell(str(row["n"]))]
    return {"form": "", "cells": cells}


def memory_parts(dataset: str, metrics: pl.DataFrame) -> list[Part]:
    """One part for each system and order that went through sessions."""
    rows = metrics.filter(pl.col("metric").is_in(list(ROWS)) & (pl.col("subset") == "all"))
    parts = []
    for (system, order), own in rows.group_by("system", "order", maintain_order=True):
        by = {row["metric"]: row for row in own.iter_rows(named=True)}
        parts.append(
            {
                "title": f"{system}: what memory saves within a session, order-{order}",
                "table": {"heads": ["figure", "mean", "questions"], "rows": [_line(by[m]) for m in ROWS if m in by]},
                "note": f"Split {own['split'][0]}, 95 % intervals, sessions of two questions or more. Rows: dataset = "
                f"{dataset}, system = {system}, metric = memory_*.",
            }
        )
    return parts
