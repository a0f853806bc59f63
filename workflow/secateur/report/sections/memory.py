"""The report's section on memory: what later questions of a session still have to send."""

from typing import Any

import polars as pl

from secateur.report.format import MEMORY, cell, interval, number

__all__ = ["memory_parts"]

Part = dict[str, Any]
SHORT = 4  # lines of the table that stand open


def _line(row: dict[str, Any]) -> Part:
    said, digits = MEMORY[row["metric"]]
    cells = [cell(said), cell(number(row["value"], digits), interval(row, digits)), cell(str(row["n"]))]
    return {"form": "", "cells": cells}


def memory_parts(dataset: str, metrics: pl.DataFrame) -> list[Part]:
    """One part for each system and order that went through sessions."""
    rows = metrics.filter(pl.col("metric").is_in(list(MEMORY)) & (pl.col("subset") == "all"))
    parts = []
    for (system, order), own in rows.group_by("system", "order", maintain_order=True):
        by = {row["metric"]: row for row in own.iter_rows(named=True)}
        parts.append(
            {
                "title": f"{system}: what memory saves within a session, order-{order}",
                "short": SHORT,
                "table": {"heads": ["figure", "mean", "questions"], "rows": [_line(by[m]) for m in MEMORY if m in by]},
                "note": f"Split {own['split'][0]}, 95 % intervals, sessions of two questions or more. Rows: dataset = "
                f"{dataset}, system = {system}, metric = memory_*.",
            }
        )
    return parts
