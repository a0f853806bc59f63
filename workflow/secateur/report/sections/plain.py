"""The report's differences to the best plain ranking: a plot of the best, and a table of all."""

from collections.abc import Sequence

from secateur.report.finding import Line, difference_of, line_table
from secateur.report.format import Part
from secateur.report.plots.charts import Dot, forest, forests

__all__ = ["plain_part", "plain_plot"]

Lines = Sequence[tuple[str, Sequence[Line]]]  # (data set, its lines)
REFERENCE = (0, "the best plain ranking of its kind")


def plain_part(lines: Lines, label: str) -> Part:
    """A plot, wide and narrow, a group a data set, with a table of all lines behind it. label: text alternative."""
    dots, xlabel = _dots(lines, len(lines) > 1)
    return {"figures": [forests(dots, label, xlabel, REFERENCE)], "behind": line_table(lines)}


def plain_plot(lines: Lines):
    """The plot of all lines as a figure, which names its data sets."""
    return forest(*_dots(lines, True), REFERENCE)


def _dots(lines: Lines, heads: bool) -> tuple[list[Dot], str]:
    """The dots, under the names of their data sets with `heads`, and the label of the axis."""
    drawn = [(dataset if heads else "", line) for dataset, own in lines for line in own]
    metrics = sorted({line.metric.partition("@")[0].replace("_", " ") for _, line in drawn})
    xlabel = f"difference in {' and '.join(metrics)}, 95 % intervals, hollow: not significant"
    return [_dot(line, group) for group, line in drawn], xlabel


def _dot(line: Line, group: str) -> Dot:
    counts, ends = f"n {line.n}, {line.units} units", (line.difference, line.low, line.high)
    return Dot(line.name, line.family, *ends, difference_of(line), counts, group, hollow=not line.significant)
