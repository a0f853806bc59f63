"""Tables of kept figures: those that a page quotes, all of an experiment for the site, and the picture of the README.

A page quotes figures between two marks. The first names rows and columns as YAML; `make docs` writes the table below it.

    <!-- figures
    experiment: multihop
    order: blind
    columns: {R@5: hotpotqa passage_recall@5, behind a bridge: "hotpotqa:bridge passage_recall@5"}
    rows: [beam, two_step, beam - two_step]
    -->
    ...
    <!-- end -->

A column is `[EXPERIMENT/]DATASET[:SUBSET] METRIC`. A row is a row of the experiment, or two rows with a kept paired
difference (`family: primary`: one of the primary family). Rows may be a mapping from the name in the table to the row.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from secateur.config.compose import option
from secateur.core.errors import SecateurError, nearest
from secateur.evaluation.comparison import PRIMARY
from secateur.evaluation.figure import figure_of
from secateur.report.finding import PLAIN, Line, both_ways, difference_of, findings
from secateur.report.format import MEMORY, figure, named, number, p_value, pivoted, row_name, row_of
from secateur.report.kept import COMPARED, SUBSETS, kept_source, kept_table
from secateur.report.plots.charts import Dot, forest
from secateur.report.plots.style import encoded
from secateur.report.table import Cell, Column, Number, Row, Table, inline, markdown

__all__ = ["MARKS", "KeptColumn", "complete", "kept_picture", "quoted"]

Figures = Mapping[str, Any]  # a row of `metrics` or of `comparisons`
MARKS = re.compile(r"(<!-- figures\n(.*?)-->\n).*?(<!-- end -->)", re.S)
MINUS = " - "
DIFFERENCE = Column("", signed=True)
COSTS = ("tokens", "seconds")  # of which more is not better


def quoted(page: str, docs: Path) -> str:
    """A page with the table below each of its marks written from the kept figures.

    Raises SecateurError for an experiment that is not kept, and for a row or column that it does not have.
    """
    return MARKS.sub(lambda mark: f"{mark[1]}{_quoted(yaml.safe_load(mark[2]), docs)}\n{mark[3]}", page)


def _quoted(mark: Mapping[str, Any], docs: Path) -> str:
    """The table of one mark, and the source of its figures."""
    names = mark["rows"] if isinstance(mark["rows"], dict) else {name: name for name in mark["rows"]}
    columns = {head: KeptColumn(docs, mark, spec) for head, spec in mark["columns"].items()}
    lines = {label.replace(MINUS, " minus "): [c.row(name) for c in columns.values()] for label, name in names.items()}
    heads = [
        Column(f"{head} ({_counts(rows)})", best="" if column.metric.endswith(COSTS) else "higher", align="left")
        for (head, column), rows in zip(columns.items(), zip(*lines.values(), strict=True), strict=True)
    ]
    cells = zip(*map(_cells, zip(*lines.values(), strict=True)), strict=True)
    rows = [Row((label, *line)) for label, line in zip(lines, cells, strict=True)]
    table = Table([Column(mark.get("head", "row")), *heads], rows)
    sources = {column.experiment: column.source for column in columns.values()}
    commands = "; ".join(f"`{source['command']}`, commit {source['commit'][:10]}" for source in sources.values())
    family = "the primary family" if mark.get("family") == PRIMARY else "all pairs of the metric"
    paired = f"; p after Holm over {family}" if any(MINUS in name for name in names.values()) else ""
    return f"{markdown(table)}\n\n95 % intervals{paired}. {commands}."


class KeptColumn:
    """The kept rows of one data set, subset, order and metric.

    spec: `[EXPERIMENT/]DATASET[:SUBSET] [METRIC]`, by default the `metric` of the mark.
    """

    def __init__(self, docs: Path, mark: Mapping[str, Any], spec: str):
        place, _, metric = spec.partition(" ")
        self.metric = metric or mark["metric"]
        experiment, _, place = place.rpartition("/")
        dataset, _, subset = place.partition(":")
        self.spec, self.experiment = spec, experiment or mark["experiment"]
        self.source = kept_source(docs, self.experiment)
        self.place = {"subset": subset or "all", "metric": self.metric}
        self.place |= {"order": mark["order"]} if "order" in mark else {}
        rows, pairs = (kept_table(docs, self.experiment, table).filter(dataset=dataset) for table in COMPARED)
        self.rows, self.pairs = named(rows), named(both_ways(pairs, mark.get("family") == PRIMARY))

    def row(self, name: str) -> Figures | None:
        """A row of figures, or the paired difference of two; None for a pair that is not compared in this metric.

        Raises SecateurError for a row that was not kept, or that is not the only one.
        """
        sides = [row_name(*row_of(side)) for side in name.split(MINUS)]
        matches = (self.pairs if MINUS in name else self.rows).filter(
            **dict(zip(("name", "minus"), sides, strict=False))
        )
        rows = matches.filter(**self.place)
        rows = rows.unique(["difference", "p_holm", "n"]) if MINUS in name else rows
        if rows.height == 1:
            return rows.row(0, named=True)
        if MINUS in name and matches.height:
            return None
        names = self.rows["name"].unique().sort().to_list()
        raise SecateurError(
            f"docs/results/{self.experiment}, {self.spec}: {rows.height} rows {name!r}{nearest(name, names)}. "
            f"Rows: {', '.join(names)}. Fix: correct the mark, or make keep NAME={self.experiment}"
        )


def _counts(rows: Iterable[Figures | None]) -> str:
    """The number of questions, or its range."""
    counts = sorted({row["n"] for row in rows if row})
    return f"n {counts[0]}" if len(counts) == 1 else f"n {counts[0]} to {counts[-1]}"


def _cells(rows: Sequence[Figures | None]) -> list[Cell]:
    """The cells of a column; one that sees the answer is never the best where others do not see it."""
    aware = [bool(row and row.get("answer_aware")) for row in rows]
    mixed = any(row and "difference" not in row and not sees for row, sees in zip(rows, aware, strict=True))
    cells = zip(map(_cell, rows), aware, strict=True)
    return [replace(c, apart=mixed and sees) if isinstance(c, Number) else c for c, sees in cells]


def _cell(row: Figures | None) -> Cell:
    """A mean with its interval, or a paired difference with its interval and p."""
    if row is None:
        return None
    if "difference" in row:
        difference = inline(Number(row["difference"], row["low"], row["high"]), DIFFERENCE)
        return f"{difference}, p {p_value(row['p_holm'], 4 if row['p_holm'] < 0.01 else 2)}"
    base = row["metric"].removesuffix("@claim")
    if base.endswith("tokens"):
        return Number(row["value"], digits=0)
    return figure(row, digits=figure_of(base).digits)


# --- all kept figures of an experiment ------------------------------------------------------------


def complete(docs: Path, name: str) -> str:
    """A page with every kept figure and paired difference of an experiment, by data set, order and subset."""
    source, metrics, pairs = kept_source(docs, name), *(named(kept_table(docs, name, table)) for table in COMPARED)
    keys = ["dataset", "order", "answer_aware", "subset"]
    blocks = [f"# Figures of {name}", f"`{source['command']}`, commit {source['commit'][:10]}, {source['finished']}."]
    for place in metrics.filter(pl.col("subset").is_in(SUBSETS)).select(keys).unique(maintain_order=True).iter_rows():
        here = pl.all_horizontal(pl.col(column).eq_missing(value) for column, value in zip(keys, place, strict=True))
        dataset, order, aware, subset = place
        labels = [dataset, *([f"order-{order}"] if order else []), *(["answer-aware"] if aware else []), subset]
        blocks += [f"## {', '.join(labels)}", _figures(metrics.filter(here)), _pairs(pairs.filter(here))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _figures(rows: pl.DataFrame) -> str:
    """A line a row, a column a metric; figures of memory, which have one row, a line each."""
    if rows["metric"].is_in(list(MEMORY)).all():
        lines = [Row((MEMORY[row["metric"]].title, _cell(row), row["n"])) for row in rows.iter_rows(named=True)]
        return markdown(Table([Column("figure"), Column("mean"), Column("questions")], lines))
    return _by_metric(rows.filter(pl.col("units").max().over("metric") > 1), "name")  # a single unit bounds nothing


def _pairs(rows: pl.DataFrame) -> str:
    """A line a pair of rows that differ in one axis, a column a metric."""
    return _by_metric(rows.sort("axis", "system", "scorer"), "axis", "name", "minus")


def _by_metric(rows: pl.DataFrame, *labels: str) -> str:
    """A table with a column per metric; empty without rows."""
    metrics = rows["metric"].unique(maintain_order=True).to_list()
    titles = {metric: figure_of(metric.removesuffix("@claim")).title for metric in metrics}
    counts = {metric: _counts(rows.filter(metric=metric).select("n").iter_rows(named=True)) for metric in metrics}
    columns = {metric: Column(f"{titles[metric]} ({counts[metric]})") for metric in metrics}
    heads = {label: {"name": "row"}.get(label, label) for label in labels}
    return markdown(pivoted(rows, columns, "metric", labels=heads, cell=_cell)) if metrics else ""


# --- the picture of the README --------------------------------------------------------------------


def kept_picture(conf: Path, docs: Path, name: str, shown: Sequence[str]) -> str:
    """SVG of the primary family: some systems' differences to their matched baseline, by data set."""
    metrics, comparisons = (kept_table(docs, name, table) for table in COMPARED)
    comparisons = comparisons.filter(axis=PRIMARY).with_columns(axis=pl.lit("ranker"))
    families = dict.fromkeys(comparisons["system"], "graph") | dict.fromkeys(comparisons["baseline"], PLAIN)
    min_units = option(conf, "eval", "default").min_units
    dots = [
        _dot(_head(dataset, chosen[0]), line)
        for dataset, lines, _ in findings(metrics, comparisons, families, min_units)
        if (chosen := [line for system in shown for line in lines if line.name == system])
        for line in chosen
    ]
    label = "share of the gold evidence, minus that of the best plain ranking; hollow: not significant"
    return encoded(forest(dots, label, (0, "the best plain ranking")), "svg").decode()


def _head(dataset: str, line: Line) -> str:
    return f"{dataset}, {line.n} questions; the best plain ranking: {line.baseline}, holds {number(line.value - line.difference)}"


def _dot(head: str, line: Line) -> Dot:
    text, ends = f"{difference_of(line)}, holds {number(line.value)}", (line.difference, line.low, line.high)
    return Dot(line.name, line.family, *ends, text, "", head, hollow=not line.significant)
