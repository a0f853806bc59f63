"""The report's differences to the best plain ranking: a plot of the best, and a table of all."""

from collections.abc import Sequence
from typing import Any

from secateur.report.finding import Line, stated
from secateur.report.forest import Dot, forest
from secateur.report.format import NOT_ENOUGH, cell

__all__ = ["plain_part"]

Lines = Sequence[tuple[str, Sequence[Line]]]  # (data set, its lines)
ZERO = "the best plain ranking of its kind"


def plain_part(found: Lines, label: str, shown: int | None = None) -> dict[str, Any]:
    """A plot, wide and narrow, a group a data set, with a table of all lines behind it. label: what the plot says in words;
    shown: lines of a data set that are drawn, all by default."""
    several = len(found) > 1
    drawn = [(dataset if several else "", line) for dataset, lines in found for line in lines[:shown]]
    metrics = sorted({line.metric.partition("@")[0].replace("_", " ") for _, line in drawn})
    xlabel = f"difference in {' and '.join(metrics)}, 95 % intervals, hollow: not significant"
    dots = [_dot(line, group) for group, line in drawn]
    plots = [forest(dots, label, xlabel, zero=ZERO, narrow=narrow) for narrow in (False, True)]
    return {"figures": [plots], "behind": _table(found)}


def _dot(line: Line, group: str) -> Dot:
    said = f"{line.difference:+.3f} ({line.interval})" if line.enough_data else NOT_ENOUGH
    counts = f"n {line.n}, {line.units} units"
    ends = (line.low, line.high)
    return Dot(
        line.name, line.family, line.difference, *ends, said, counts, group, not line.enough_data, not line.significant
    )


def _table(found: Lines) -> dict[str, Any]:
    """A line a system and data set."""
    rows = [stated(line) | {"data set": dataset} for dataset, lines in found for line in lines]
    heads = ["system", "data set", *(head for head in rows[0] if head not in ("system", "data set"))]
    return {"heads": heads, "rows": [{"form": "", "cells": [cell(str(row[head])) for head in heads]} for row in rows]}
