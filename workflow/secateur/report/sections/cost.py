"""The report's part on cost: time and memory that this project's systems took to their contexts and to their figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import Part, style
from secateur.report.plots.charts import Dot, forests
from secateur.report.table import Column, Row, Table

__all__ = ["cost_parts"]

ELSEWHERE = ("peer", "imported")  # families whose work is not done by our stages; peers have a part of their own
SENT = {"tokens@claim": "tokens sent", "read_tokens": "prompt tokens"}  # metric -> head of its column
SHOWN, SHORT = 8, 4  # rows of the plot, rows of the table that are not folded
SECONDS, MEMORY = "cpu_seconds", "peak_bytes"
COLUMNS = [Column("system")]
COLUMNS += [Column(f"CPU seconds {of}", 1) for of in ("to its contexts", "in all")]
COLUMNS += [Column(f"peak memory {of} (GB)", 2) for of in ("to its contexts", "in all")]
ABOUT = (
    "To its contexts: all work up to the texts that are sent; work that several rows share counts in each of them, so rows "
    "do not add up. In all: answering and measuring too. CPU seconds of the last run of each stage, summed; the largest memory of any stage. One run has no interval. "
    "Cached work costs nothing; work of a server or a GPU is not counted. Rows: run.json of each stage, cpu_seconds and "
    "peak_bytes."
)


def cost_parts(
    dataset: str, rows: pl.DataFrame, costs: Sequence[Mapping[str, Any]], families: Mapping[str, str]
) -> Iterator[Part]:
    """A plot and a table of one data set: whole systems first, the cheapest first; none without records.

    rows: of `metrics`, of the data set; costs: dataset, system, order, cpu_seconds and peak_bytes of all stages, and
    the same with `sent_` of the stages up to the contexts.
    """
    variants = [cost for cost in costs if cost["dataset"] == dataset]
    variants = [cost for cost in variants if families.get(cost["system"], "imported") not in ELSEWHERE]
    if not variants:
        return
    variants.sort(key=lambda cost: (":" in cost["system"], cost[f"sent_{SECONDS}"], cost["system"]))
    sent = rows.filter(~pl.col("published"), pl.col("metric").is_in(list(SENT)), subset="all")
    heads = {metric: head for metric, head in SENT.items() if metric in set(sent["metric"])}
    n = ", ".join(map(str, sent["n"].unique().sort()))
    means = " Tokens sent: of contexts, over the budgets claimed; prompt tokens: of what was answered; means over n = "
    dots = [_dot(cost, families) for cost in variants[:SHOWN]]
    xlabel = "CPU seconds of all stages that its contexts come from"
    yield {
        "title": "What it costs",
        "open": True,
        "figures": [forests(dots, f"CPU seconds and memory on {dataset}", xlabel)],
        "short": SHORT,
        "table": Table([*COLUMNS, *map(Column, heads.values())], [_row(cost, sent, heads) for cost in variants]),
        "note": ABOUT + (f"{means}{n} questions." if n else ""),
    }


def _name(cost: Mapping[str, Any]) -> str:
    return cost["system"] + (", order-aware" if cost["order"] == "aware" else "")


def _dot(cost: Mapping[str, Any], families: Mapping[str, str]) -> Dot:
    seconds = cost[f"sent_{SECONDS}"]
    text = f"{seconds:,.1f} s, {cost[f'sent_{MEMORY}'] / 1e9:.2f} GB"
    return Dot(_name(cost), families[cost["system"]], seconds, seconds, seconds, text, "")


def _row(cost: Mapping[str, Any], sent: pl.DataFrame, metrics: Mapping[str, str]) -> Row:
    """Costs of a variant, and its tokens in each of some metrics: a mean, or the range of a list's rankers."""
    order = {"order": cost["order"]} if cost["order"] else {}  # a list of rankers has rows of both orders
    rows = sent.filter(system=cost["system"], **order)
    cells = [_name(cost), *(cost[f"{of}{SECONDS}"] for of in ("sent_", ""))]
    cells += [cost[f"{of}{MEMORY}"] / 1e9 for of in ("sent_", "")]
    for metric in metrics:
        values = rows.filter(metric=metric)["value"].sort()
        cells.append(" to ".join(dict.fromkeys(f"{value:,.0f}" for value in (*values[:1], *values[-1:]))))
    return Row(tuple(cells), style(cost))
