"""The report's part on cost: the time and the memory that this project's own systems took to their contexts and figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import form
from secateur.report.plots.charts import Dot, forests
from secateur.report.table import Column, Row, Table

__all__ = ["cost_parts"]

ELSEWHERE = ("peer", "imported")  # families whose time is not that of our stages; peers have a part of their own
SENT = {  # metric: head of its column
    "tokens@claim": "tokens sent",
    "read_tokens": "prompt tokens",
}
SHOWN, SHORT = 8, 4  # rows that are drawn, and lines of the table that stand open
COLUMNS = [
    Column("system"),
    *(Column(f"{what} {of}") for of in ("to its contexts", "in all") for what in ("CPU seconds", "peak memory (GB)")),
]
FINE = 100  # seconds from which on tenths say nothing
ABOUT = (
    "To its contexts: all stages that what it sends comes from, shared ones in each row; in all: with answering and "
    "measuring. CPU seconds of the last run of each stage, summed; "
    "the largest memory of any. A run is no sample, so there are no intervals; what a cache held already cost nothing "
    "again; what a server or a GPU computes is not counted. Rows: run.json of each stage, cpu_seconds and peak_bytes."
)
Part = dict[str, Any]


def cost_parts(
    dataset: str, own: pl.DataFrame, costs: Sequence[Mapping[str, Any]], families: Mapping[str, str]
) -> Iterator[Part]:
    """A plot and a table of one data set, whole systems first, the cheapest first; none where no record is known.

    own: its rows of `metrics`; costs: dataset, system, order, and of what each sends and of all its stages cpu_seconds and
    peak_bytes, with `sent_` and without.
    """
    here = [
        one for one in costs if one["dataset"] == dataset and families.get(one["system"], "imported") not in ELSEWHERE
    ]
    if not here:
        return
    ordered = sorted(here, key=lambda one: (":" in one["system"], one["sent_cpu_seconds"], one["system"]))
    rows = own.filter((pl.col("subset") == "all") & ~pl.col("published"))
    heads = {metric: head for metric, head in SENT.items() if (rows["metric"] == metric).any()}
    label = f"CPU seconds and memory on {dataset}"
    dots = [_dot(one, families) for one in ordered[:SHOWN]]
    xlabel = "CPU seconds of all stages that its contexts come from"
    yield {
        "title": "What it costs",
        "figures": [forests(dots, label, xlabel)],
        "short": SHORT,
        "table": Table(
            [*COLUMNS, *(Column(head) for head in heads.values())], [_line(one, rows, list(heads)) for one in ordered]
        ),
        "note": ABOUT + _asked(rows.filter(pl.col("metric").is_in(list(heads)))),
    }


def _name(one: Mapping[str, Any]) -> str:
    return one["system"] + (", order-aware" if one["order"] == "aware" else "")


def _seconds(value: float) -> str:
    """
    >>> _seconds(12.345), _seconds(1234.5)
    ('12.3', '1,234')
    """
    return f"{value:,.1f}" if value < FINE else f"{value:,.0f}"


def _gigabytes(value: float) -> str:
    return f"{value / 1e9:.2f}"


COSTS = {"cpu_seconds": _seconds, "peak_bytes": _gigabytes}


def _dot(one: Mapping[str, Any], families: Mapping[str, str]) -> Dot:
    seconds = one["sent_cpu_seconds"]
    said = f"{_seconds(seconds)} s, {_gigabytes(one['sent_peak_bytes'])} GB"
    return Dot(_name(one), families[one["system"]], seconds, seconds, seconds, said, "")


def _line(one: Mapping[str, Any], rows: pl.DataFrame, metrics: Sequence[str]) -> Row:
    """A row, with what it sent in each of some metrics."""
    figures = [f(one[f"{of}{name}"]) for of in ("sent_", "") for name, f in COSTS.items()]
    order = {"order": one["order"]} if one["order"] else {}  # a list of rankers has rows of both
    sent = rows.filter(system=one["system"], **order)
    figures += [_sent(sent.filter(metric=metric)) for metric in metrics]
    return Row((_name(one), *figures), form(one["system"]))


def _sent(rows: pl.DataFrame) -> str:
    """Tokens sent: a mean, or the least and the most of a list's rankers."""
    ends = (rows["value"].min(), rows["value"].max())
    return " to ".join(dict.fromkeys(f"{value:,.0f}" for value in ends if value is not None))


def _asked(rows: pl.DataFrame) -> str:
    """What the tokens are means over."""
    n = ", ".join(map(str, rows["n"].unique().sort()))
    said = "Tokens sent: of contexts, over the budgets claimed; prompt tokens: of what was answered; means over"
    return f" {said} n = {n} questions." if n else ""
