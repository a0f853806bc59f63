"""The report's part on memory: what later questions of a session still have to send."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.report.format import MEMORY, dots, interval, number
from secateur.report.table import Column, Row, Table

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


def _table(own: pl.DataFrame) -> Table:
    """One row a figure: each has digits of its own."""
    by = {row["metric"]: row for row in own.iter_rows(named=True)}
    rows = [
        Row((name, number(by[m]["value"], digits), interval(by[m], digits), by[m]["n"]))
        for m, (name, digits) in MEMORY.items()
        if m in by
    ]
    return Table([Column(head) for head in ("figure", "mean", "95 % interval", "questions")], rows)


def memory_parts(dataset: str, metrics: pl.DataFrame, families: Mapping[str, str]) -> list[Part]:
    """One part for each system and order that went through sessions. metrics: rows of a data set, with `enough_data`."""
    rows = metrics.filter(pl.col("metric").is_in(list(MEMORY)) & (pl.col("subset") == "all"))
    parts = []
    for (system, order), own in rows.group_by("system", "order", maintain_order=True):
        parts.append(
            {
                "title": f"{system}: what memory saves within a session, order-{order}",
                **_drawn(own, families, f"what memory gives {system} on {dataset}, order-{order}"),
                "short": SHORT,
                "table": _table(own),
                "note": f"Split {own['split'][0]}, 95 % intervals, sessions of two questions or more. Rows: dataset = "
                f"{dataset}, system = {system}, metric = memory_*.",
            }
        )
    return parts
