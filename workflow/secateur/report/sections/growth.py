"""The report's section on how graphs grow with the passages read."""

import polars as pl

from secateur.graph.growth import exponent
from secateur.report.format import Part, number
from secateur.report.plots.charts import panels
from secateur.report.plots.style import inline
from secateur.report.table import Cell, Column, Number, Row, Table

__all__ = ["growth_section"]

KINDS = ("entities", "relations", "edges", "runs")


def _row(name: str, rows: pl.DataFrame) -> Row:
    """The counts of a graph after all passages, each with its growth exponent, and the bytes of its tables."""
    cells: list[Cell] = [name]
    for kind in KINDS:
        curve = rows.filter(measure=kind).sort("at")
        slope = exponent(curve["passages"].to_list(), curve["value"].to_list())
        notes = () if slope is None else (f"exponent {number(slope)}",)
        cells.append(Number(curve["value"][-1], notes=notes))
    size = rows.filter(measure="bytes")["value"].item()
    return Row((*cells, size / 1e6))


def growth_section(growth: pl.DataFrame) -> Part | None:
    """The growth curve of every graph (paper, figure 6), or None where no graph has an edge.

    growth: corpus, system, order and the columns of the table `growth`.
    """
    if not growth.filter(pl.col("count") > 0, kind="edges").height:
        return None
    rows = growth.rename({"kind": "measure", "share": "at", "count": "value"})
    rows = rows.with_columns(name=pl.concat_str("corpus", "system", "order", separator=" · "))
    drawn = panels(rows.filter(pl.col("value") > 0, pl.col("measure").is_in(KINDS)), "share of the passages read")
    lines = [_row(name, part) for (name,), part in rows.group_by("name", maintain_order=True)]
    part = {
        "title": "Distinct symbols, edges and runs over the passages read",
        "figures": [[inline(drawn, "codebook growth")]],
        "table": Table([Column("graph"), *map(Column, KINDS), Column("megabytes", 2)], lines),
        "note": "Passages in text order, counts after consolidation, both axes logarithmic. The exponent is the slope of "
        "log count over log passages read: 1 is growth in proportion to the text, and a codebook that saturates tends "
        "to 0. Megabytes: the Parquet files that a question is answered from.",
    }
    return {"title": "Codebook growth", "about": "How much a graph keeps of the text it has read.", "parts": [part]}
