"""Tables of kept figures: the few that a page quotes, all of an experiment for the site, and the picture of the README.

A page quotes figures between two marks. The first says what to show, as YAML; `make docs` writes the table below it.

    <!-- figures
    experiment: multihop
    order: blind
    columns: {R@5: hotpotqa passage_recall@5, behind a bridge: "hotpotqa:bridge passage_recall@5"}
    rows: [beam, two_step, beam - two_step]
    -->
    ...
    <!-- end -->

A column is `[EXPERIMENT/]DATASET[:SUBSET] METRIC`. A row is a row of the experiment, or two of them whose paired difference was
kept. Rows may be a mapping: what the table calls a row, and the row.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from secateur.config.compose import option
from secateur.core.errors import SecateurError, nearest
from secateur.evaluation.metric import figure_of
from secateur.report import table
from secateur.report.finding import Line, findings
from secateur.report.format import MEMORY, number, row_name, row_of
from secateur.report.kept import KEPT, SUBSETS, kept_source, kept_table
from secateur.report.plots.charts import Dot, forest
from secateur.report.plots.style import encoded

__all__ = ["complete", "kept_picture", "quoted"]

Row = Mapping[str, Any]
MARKS = re.compile(r"(<!-- figures\n(.*?)-->\n).*?(<!-- end -->)", re.S)
MINUS = " - "


def quoted(page: str, docs: Path) -> str:
    """A page with the table below each of its marks written anew from the kept figures.

    Raises SecateurError for an experiment that is not kept, and for a row or column that it does not have.
    """
    return MARKS.sub(lambda mark: f"{mark[1]}{_quoted(yaml.safe_load(mark[2]), docs)}\n{mark[3]}", page)


def _quoted(asked: Mapping[str, Any], docs: Path) -> str:
    """The table of one mark: a line a row, a column a metric, then where the figures come from."""
    rows = asked["rows"] if isinstance(asked["rows"], dict) else {name: name for name in asked["rows"]}
    columns = {head: _Column(docs, asked, spec) for head, spec in asked["columns"].items()}
    cells = {label: [column.row(name) for column in columns.values()] for label, name in rows.items()}
    best = [
        max((row["value"] for line in cells.values() if (row := line[n]) and "value" in row), default=None)
        for n in range(len(columns))
    ]
    body = [
        [label.replace(MINUS, " minus "), *(_cell(row, top) for row, top in zip(line, best, strict=True))]
        for label, line in cells.items()
    ]
    heads = [f"{head} ({_counts(line[n] for line in cells.values())})" for n, head in enumerate(columns)]
    sources = {column.experiment: column.source for column in columns.values()}
    made = "; ".join(f"`{source['command']}`, commit {source['commit'][:10]}" for source in sources.values())
    paired = "; p after Holm over all pairs of the metric" if any(MINUS in name for name in rows.values()) else ""
    return f"{_markdown([asked.get('head', 'row'), *heads], body)}\n\n95 % intervals{paired}. {made}."


class _Column:
    """The kept rows of one data set, subset, order and metric."""

    def __init__(self, docs: Path, asked: Mapping[str, Any], spec: str):
        place, self.metric = spec.split(" ")
        experiment, _, place = place.rpartition("/")
        self.experiment = experiment or asked["experiment"]
        self.source = kept_source(docs, self.experiment)
        dataset, _, subset = place.partition(":")
        self.subset, self.order = subset or "all", asked.get("order")
        self.rows, self.pairs = (
            kept_table(docs, self.experiment, table).filter(pl.col("dataset") == dataset) for table in KEPT
        )
        self.spec = spec

    def row(self, name: str) -> Row | None:
        """A row of figures, or the paired difference of two; None where a pair is not compared in this metric.

        Raises SecateurError for a row that was not kept, or that is not the only one.
        """
        if MINUS in name:
            first, second = (row_of(side) for side in name.split(MINUS))
            sides = ("system", "scorer"), ("baseline", "baseline_scorer")
            for sign, (left, right) in ((1, sides), (-1, sides[::-1])):
                pairs = self.pairs.filter(_is(left, first), _is(right, second))
                here = self._here(pairs).unique(["difference", "p_holm", "n"])
                if here.height == 1:
                    return _turned(here.row(0, named=True), sign)
                if not pairs.is_empty():
                    return None
        else:
            here = self._here(self.rows.filter(_is(("system", "scorer"), row_of(name))))
            if here.height == 1:
                return here.row(0, named=True)
        known = [row_name(*row) for row in self.rows.select("system", "scorer").unique().sort("system").iter_rows()]
        raise SecateurError(
            f"docs/results/{self.experiment}, {self.spec}: {here.height} rows {name!r}{nearest(name, known)}. "
            f"Rows: {', '.join(known)}. Fix: correct the mark, or secateur keep {self.experiment}"
        )

    def _here(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of the column's subset, metric and order."""
        chosen = rows.filter(pl.col("subset") == self.subset, pl.col("metric") == self.metric)
        return chosen.filter(pl.col("order") == self.order) if self.order else chosen


def _is(columns: tuple[str, str], row: tuple[str, str | None]) -> pl.Expr:
    return pl.all_horizontal(pl.col(column).eq_missing(value) for column, value in zip(columns, row, strict=True))


def _turned(pair: Row, sign: int) -> Row:
    """A paired difference, or the same with its rows exchanged."""
    if sign == 1:
        return pair
    low, high = (None if end is None else 0 - end for end in (pair["high"], pair["low"]))  # not -0.0
    return {**pair, "difference": 0 - pair["difference"], "low": low, "high": high}


def _counts(rows: Iterable[Row | None]) -> str:
    """Numbers of questions, as one or as a range."""
    counts = sorted({row["n"] for row in rows if row})
    return f"n {counts[0]}" if len(counts) == 1 else f"n {counts[0]} to {counts[-1]}"


def _cell(row: Row | None, best: float | None = None) -> str:
    """Mean or difference, with its interval; the best mean is bold."""
    if row is None:
        return ""
    base, ends = row["metric"].removesuffix("@claim"), (row["low"], row["high"])
    if "difference" in row:
        low, high = ("unbounded" if end is None else f"{end:+.3f}" for end in ends)
        return f"{row['difference']:+.3f} ({low} to {high}), p {row['p_holm']:.{4 if row['p_holm'] < 0.01 else 2}f}"
    if base.endswith("tokens"):
        return f"{row['value']:.0f}"
    digits = MEMORY[base][1] if base in MEMORY else figure_of(base).digits
    value, low, high = (f"{number:.{digits}f}" for number in (row["value"], *ends))
    return f"{f'**{value}**' if row['value'] == best else value} ({low} to {high})"


def _markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    columns = [table.Column(head, align="left") for head in heads]
    return table.markdown(table.Table(columns, [table.Row(tuple(line)) for line in body]))


# --- all kept figures of an experiment ------------------------------------------------------------


def complete(docs: Path, name: str) -> str:
    """A page with every kept figure and paired difference of an experiment, by data set, order and subset."""
    source, metrics, pairs = kept_source(docs, name), *(kept_table(docs, name, table) for table in KEPT)
    key = ["dataset", "order", "answer_aware", "subset"]
    parts = [f"# Figures of {name}", f"`{source['command']}`, commit {source['commit'][:10]}, {source['finished']}."]
    for place in metrics.filter(pl.col("subset").is_in(SUBSETS)).select(key).unique(maintain_order=True).iter_rows():
        here = pl.all_horizontal(pl.col(column).eq_missing(value) for column, value in zip(key, place, strict=True))
        dataset, order, aware, subset = place
        said = [dataset, *([f"order-{order}"] if order else []), *(["answer-aware"] if aware else []), subset]
        parts += [f"## {', '.join(said)}", _figures(metrics.filter(here)), _pairs(pairs.filter(here))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _figures(rows: pl.DataFrame) -> str:
    """A line a row, a column a metric; figures of memory, which have one row, a line each."""
    if rows["metric"].is_in(list(MEMORY)).all():
        body = [[MEMORY[row["metric"]][0], _cell(row), str(row["n"])] for row in rows.iter_rows(named=True)]
        return _markdown(["figure", "mean", "questions"], body)
    bounded = rows.filter(pl.col("units").max().over("metric") > 1)  # a single unit bounds nothing
    bases = [metric.removesuffix("@claim") for metric in bounded["metric"].unique(maintain_order=True)]
    lines: dict[str, dict[str, Row]] = {}
    for row in bounded.iter_rows(named=True):
        lines.setdefault(row_name(row["system"], row["scorer"]), {})[row["metric"].removesuffix("@claim")] = row
    heads = [
        f"{figure_of(base).title} ({_counts(line[base] for line in lines.values() if base in line)})" for base in bases
    ]
    body = [[name, *(_cell(line[base]) if base in line else "" for base in bases)] for name, line in lines.items()]
    return _markdown(["row", *heads], body) if body else ""


def _pairs(rows: pl.DataFrame) -> str:
    """A line a pair of rows that differ in one axis, a column a metric."""
    lines: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows.sort("axis", "system", "scorer").iter_rows(named=True):
        sides = row_name(row["system"], row["scorer"]), row_name(row["baseline"], row["baseline_scorer"])
        lines.setdefault((row["axis"], *sides), {})[row["metric"].removesuffix("@claim")] = row
    bases = list(dict.fromkeys(base for line in lines.values() for base in line))
    body = [[*pair, *(_cell(line[base]) if base in line else "" for base in bases)] for pair, line in lines.items()]
    return _markdown(["axis", "row", "minus", *(figure_of(base).title for base in bases)], body) if body else ""


# --- the picture of the README --------------------------------------------------------------------


def kept_picture(conf: Path, docs: Path, name: str, shown: Sequence[str]) -> str:
    """SVG of some systems' differences to the best plain ranking, by data set."""
    metrics, comparisons = (kept_table(docs, name, table) for table in KEPT)
    families = {
        system: option(conf, "system", system.partition(":")[0]).family for system in metrics["system"].unique()
    }
    settings = option(conf, "eval", "default")
    dots = [
        _dot(_head(dataset, chosen[0]), line)
        for dataset, lines, _ in findings(metrics, comparisons, families, settings.min_units)
        if (chosen := [line for system in shown for line in lines if line.name == system])
        for line in chosen
    ]
    xlabel = "share of the gold evidence, minus that of the best plain ranking; hollow: not significant"
    return encoded(forest(dots, xlabel, (0, "the best plain ranking")), "svg").decode()


def _head(dataset: str, line: Line) -> str:
    base = number(line.value - line.difference)
    return f"{dataset}, {line.n} questions; the best plain ranking: {line.baseline}, holds {base}"


def _dot(head: str, line: Line) -> Dot:
    said = f"{line.difference:+.3f} ({line.interval}), holds {number(line.value)}"
    return Dot(
        line.name, line.family, line.difference, line.low, line.high, said, "", head, hollow=not line.significant
    )
