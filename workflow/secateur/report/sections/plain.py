"""The report's differences to the best plain ranking: a plot of the best, and a table of all."""

from collections.abc import Sequence

from secateur.report.finding import Line, difference_of, line_table
from secateur.report.format import Part
from secateur.report.plots.charts import Dot, forest, forests

__all__ = ["plain_part", "plain_plot"]

REFERENCE = (0, "the best plain ranking of its kind")


def plain_part(lines: Sequence[Line], label: str) -> Part:
    """A plot of the lines of a data set, wide and narrow, with a table of them behind it. label: text alternative."""
    dots, xlabel = _dots(lines)
    return {"figures": [forests(dots, label, xlabel, REFERENCE)], "behind": line_table(lines)}


def plain_plot(dataset: str, lines: Sequence[Line]):
    """The plot of the lines of a data set as a figure, which names it."""
    return forest(*_dots(lines, dataset), REFERENCE)


def _dots(lines: Sequence[Line], head: str = "") -> tuple[list[Dot], str]:
    """The dots, under a head, and the label of the axis."""
    metrics = sorted({line.metric.partition("@")[0].replace("_", " ") for line in lines})
    xlabel = f"difference in {' and '.join(metrics)}, 95 % intervals, hollow: not significant"
    return [_dot(line, head) for line in lines], xlabel


def _dot(line: Line, head: str) -> Dot:
    counts, ends = f"n {line.n}, {line.units} units", (line.difference, line.low, line.high)
    return Dot(line.name, line.family, *ends, difference_of(line), counts, head, hollow=not line.significant)
