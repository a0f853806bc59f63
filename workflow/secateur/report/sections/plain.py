"""The report's differences to the best plain ranking: a plot of the best, and a table of all."""

from collections.abc import Sequence
from typing import Any

from secateur.report.finding import Line, stated
from secateur.report.format import NOT_ENOUGH
from secateur.report.plots.charts import Dot, forest, forests
from secateur.report.table import Column, Row, Table

__all__ = ["plain_part", "plain_plot"]

Lines = Sequence[tuple[str, Sequence[Line]]]  # (data set, its lines)
REFERENCE = (0, "the best plain ranking of its kind")


def plain_part(found: Lines, label: str, shown: int | None = None) -> dict[str, Any]:
    """A plot, wide and narrow, a group a data set, with a table of all lines behind it. label: what the plot says in words;
    shown: lines of a data set that are drawn, all by default."""
    dots, xlabel = _dots(found, len(found) > 1, shown)
    return {"figures": [forests(dots, label, xlabel, REFERENCE)], "behind": _table(found)}


def plain_plot(found: Lines):
    """The plot of all lines as a figure, which names its data sets."""
    return forest(*_dots(found, True), REFERENCE)


def _dots(found: Lines, heads: bool, shown: int | None = None) -> tuple[list[Dot], str]:
    """The lines that are drawn, under their data sets where they have heads, and what the axis measures."""
    drawn = [(dataset if heads else "", line) for dataset, lines in found for line in lines[:shown]]
    metrics = sorted({line.metric.partition("@")[0].replace("_", " ") for _, line in drawn})
    xlabel = f"difference in {' and '.join(metrics)}, 95 % intervals, hollow: not significant"
    return [_dot(line, group) for group, line in drawn], xlabel


def _dot(line: Line, group: str) -> Dot:
    said = f"{line.difference:+.3f} ({line.interval})" if line.enough_data else NOT_ENOUGH
    counts = f"n {line.n}, {line.units} units"
    ends = (line.low, line.high)
    return Dot(
        line.name, line.family, line.difference, *ends, said, counts, group, not line.enough_data, not line.significant
    )


def _table(found: Lines) -> Table:
    """One row a system and data set."""
    rows = [stated(line) | {"data set": dataset} for dataset, lines in found for line in lines]
    heads = ["system", "data set", *(head for head in rows[0] if head not in ("system", "data set"))]
    return Table([Column(head) for head in heads], [Row(tuple(row[head] for head in heads)) for row in rows])
