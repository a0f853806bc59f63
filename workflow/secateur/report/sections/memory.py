"""The report's part on memory: what later questions of a session still have to send."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.report.format import MEMORY, cell, dots, interval, number

__all__ = ["memory_parts"]

Part = dict[str, Any]
SHORT = 4  # lines of the table that stand open
DRAWN = {  # what is drawn, and how it is called under its head
    "evidence recall": {
        "memory_evidence_recall": "with memory",
        "memory_evidence_recall_alone": "without",
        "memory_evidence_recall_equal": "without, equal tokens sent",
    },
    "token recall": {
        "memory_token_recall": "with memory",
        "memory_token_recall_alone": "without",
        "memory_token_recall_equal": "without, equal tokens sent",
    },
    "a later question": {
        "memory_tokens_to_first": "prompt, over the session's first",
        "memory_reuse": "symbols and edges met before",
    },
}


def _line(row: dict[str, Any]) -> Part:
    said, digits = MEMORY[row["metric"]]
    cells = [cell(said), cell(number(row["value"], digits), interval(row, digits)), cell(str(row["n"]))]
    return {"form": "", "cells": cells}


def _drawn(own: pl.DataFrame, families: Mapping[str, str], label: str) -> Part:
    """The shares as a plot, with and without memory beside each other."""
    names = {metric: (head, name) for head, of in DRAWN.items() for metric, name in of.items()}
    by = {row["metric"]: row for row in own.iter_rows(named=True)}
    rows = [by[metric] | {"group": head, "name": name} for metric, (head, name) in names.items() if metric in by]
    if not rows:
        return {}
    return dots(pl.DataFrame(rows), families, label, "share, mean over later questions of a session", len(rows)) | {
        "behind": None  # the table stands open
    }


def memory_parts(dataset: str, metrics: pl.DataFrame, families: Mapping[str, str]) -> list[Part]:
    """One part for each system and order that went through sessions. metrics: rows of a data set, with `enough_data`."""
    rows = metrics.filter(pl.col("metric").is_in(list(MEMORY)) & (pl.col("subset") == "all"))
    parts = []
    for (system, order), own in rows.group_by("system", "order", maintain_order=True):
        by = {row["metric"]: row for row in own.iter_rows(named=True)}
        parts.append(
            {
                "title": f"{system}: what memory saves within a session, order-{order}",
                **_drawn(own, families, f"what memory gives {system} on {dataset}, order-{order}"),
                "short": SHORT,
                "table": {"heads": ["figure", "mean", "questions"], "rows": [_line(by[m]) for m in MEMORY if m in by]},
                "note": f"Split {own['split'][0]}, 95 % intervals, sessions of two questions or more. Rows: dataset = "
                f"{dataset}, system = {system}, metric = memory_*.",
            }
        )
    return parts
