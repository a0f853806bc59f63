"""The report's part on memory: what later questions of a session still have to send."""

from collections.abc import Mapping

import polars as pl

from secateur.report.format import MEMORY, Part, dots, figure, note
from secateur.report.table import Column, Row, Table

__all__ = ["memory_parts"]

SHORT = 4  # rows of the table that are not folded
WAYS = {"": "with memory", "_alone": "without", "_equal": "without, equal tokens sent"}
DRAWN = {  # figure -> (head, name) in the plot
    **{
        f"memory_{of}_recall{way}": (f"{of} recall", name) for of in ("evidence", "token") for way, name in WAYS.items()
    },
    "memory_tokens_to_first": ("a later question", "prompt, over the session's first"),
    "memory_reuse": ("a later question", "symbols and edges met before"),
}


def memory_parts(dataset: str, metrics: pl.DataFrame, families: Mapping[str, str]) -> list[Part]:
    """A part for each system and order that went through sessions. metrics: rows of a data set, with `enough_data`."""
    rows = metrics.filter(pl.col("metric").is_in(list(MEMORY)), subset="all")
    parts = []
    for (system, order), part in rows.group_by("system", "order", maintain_order=True):
        figures = {row["metric"]: row for row in part.iter_rows(named=True)}
        drawn = [figures[m] | {"group": group, "name": name} for m, (group, name) in DRAWN.items() if m in figures]
        label, xlabel = f"what memory gives {system} on {dataset}, order-{order}", "share, mean over later questions"
        plot = dots(pl.DataFrame(drawn), families, label, xlabel, len(drawn)) if drawn else {}
        lines = [
            Row((shown.title, figure(figures[metric], digits=shown.digits), figures[metric]["n"]))
            for metric, shown in MEMORY.items()
            if metric in figures
        ]
        about = " Sessions of two questions or more."
        parts.append(
            {
                "title": f"{system}: what memory saves within a session, order-{order}",
                **plot,
                "behind": None,  # the table below has the same figures
                "open": not parts,
                "short": SHORT,
                "table": Table([Column("figure"), Column("mean"), Column("questions")], lines),
                "note": note(part, dataset=dataset, system=system, metric="memory_*") + about,
            }
        )
    return parts
