"""What the sections of a report share: names of rows, verdicts, and rows of figures as cells, tables and plots."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from secateur.evaluation.figure import FIGURES
from secateur.evaluation.verdict import NOT_ENOUGH, enough_data
from secateur.report.plots.charts import Dot, forests
from secateur.report.table import Cell, Column, Number, Row, Table, inline

__all__ = ["MEMORY", "OURS", "SEES", "SEES_ANSWER", "WHOLE", "Part", "aware_named", "difference", "dots", "figure"]
__all__ += [
    "not_enough_data",
    "note",
    "number",
    "of_fewer",
    "p_value",
    "pivoted",
    "row_name",
    "row_of",
    "sizes",
    "style",
]
__all__ += ["named", "with_enough_data"]

Part = dict[str, Any]  # a part of a section: title, text, figures, table, note
OURS = ("secateur", "requery", "graph_zsum", "beam", "ecs")  # systems that the others are compared with
SEES = {False: "answer-free", True: "answer-aware (the scorer sees the gold answer)"}
MEMORY = {name: figure for name, figure in FIGURES.items() if name.startswith("memory_")}  # of sessions
WHOLE = 0.9  # share of the questions from which a row is about all of them
SEES_ANSWER = ", sees the answer"  # behind the name of a row


# --- names ---------------------------------------------------------------------------------------


def row_name(system: str, scorer: str | None) -> str:
    """The name of a row: its system, with its scorer where the system has several.

    >>> row_name("graph_zsum", None), row_name("rankers", "bm25")
    ('graph_zsum', 'rankers · bm25')
    """
    return f"{system} · {scorer}" if scorer else system


def row_of(name: str) -> tuple[str, str | None]:
    """The system and the scorer of a row by its name, in which a slash may replace the dot.

    >>> row_of("graph_zsum:dense"), row_of("rankers/bm25"), row_of("rankers · bm25")
    (('graph_zsum:dense', None), ('rankers', 'bm25'), ('rankers', 'bm25'))
    """
    system, _, scorer = name.replace(" · ", "/", 1).partition("/")
    return system.strip(), scorer.strip() or None


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of figures with the column `name`; rows of comparisons with `minus` too, the name of the baseline."""
    sides = {"name": ("system", "scorer"), "minus": ("baseline", "baseline_scorer")}
    sides = {name: columns for name, columns in sides.items() if columns[0] in rows.columns}
    names = {name: [row_name(*row) for row in rows.select(columns).iter_rows()] for name, columns in sides.items()}
    return rows.with_columns(pl.Series(name, values, pl.String) for name, values in names.items())


def aware_named(rows: pl.DataFrame) -> pl.DataFrame:
    """Named rows of figures; a name says so where the scorer sees the answer."""
    return rows.with_columns(pl.col("name") + pl.when("answer_aware").then(pl.lit(SEES_ANSWER)).otherwise(pl.lit("")))


def style(row: Mapping[str, Any]) -> str:
    """The style of a table's row: `published`, `ours` or none."""
    return "published" if row.get("published") else "ours" if row.get("system", "").partition(":")[0] in OURS else ""


# --- enough data ---------------------------------------------------------------------------------


def with_enough_data(rows: pl.DataFrame, min_units: int) -> pl.DataFrame:
    """Figures or differences with the column `enough_data`."""
    return rows.with_columns(enough_data=enough_data(pl.col("n"), pl.col("units").fill_null(0), min_units))


def sizes(row: Mapping[str, Any]) -> str:
    """Number of questions and of units of a figure or a difference."""
    counts = ((row["n"], "question"), (row["units"], "unit"))
    return " in ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def of_fewer(*keys: str, share: float = WHOLE) -> pl.Expr:
    """Whether a figure is of less than a share of the questions of another with the same keys: they may be the easier ones."""
    most = pl.col("n").filter(~pl.col("published")).max()
    return ~pl.col("published") & (pl.col("n") < share * (most.over(keys) if keys else most))


def not_enough_data(rows: pl.DataFrame) -> str:
    """The text in place of a plot of which no row has enough data; else empty.

    >>> not_enough_data(pl.DataFrame({"n": [5, 4], "units": [3, 3], "enough_data": [False, False]}))
    'Not enough data: 5 questions in 3 units.'
    """
    if rows.is_empty() or rows["enough_data"].any():
        return ""
    return f"{NOT_ENOUGH.capitalize()}: {sizes(rows.sort('n', descending=True).row(0, named=True))}."


# --- cells and tables ----------------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """A number with thousands separated; empty for None.

    >>> number(0.25), number(1234.5, 0), number(None)
    ('0.250', '1,234', '')
    """
    return "" if value is None else f"{value:,.{digits}f}"


def p_value(p: float, digits: int = 4) -> str:
    """A p; one that is too small for its digits is a bound.

    >>> p_value(0.0123), p_value(0.000015)
    ('0.0123', '<0.0001')
    """
    return f"{p:.{digits}f}" if round(p, digits) else f"<{10**-digits:.{digits}f}"


def figure(row: Mapping[str, Any], *notes: str, digits: int | None = None) -> Number:
    """The cell of a mean with its interval."""
    return Number(row["value"], row["low"], row["high"], notes, digits)


def difference(row: Mapping[str, Any]) -> Number:
    """The cell of a paired difference, with its p after Holm and its sizes in small print."""
    p = f"p {p_value(row['p_holm'])}" + ("" if row["enough_data"] else f", {NOT_ENOUGH}")
    return Number(row["difference"], row["low"], row["high"], (p, sizes(row)))


def pivoted(
    rows: pl.DataFrame,
    columns: Mapping[Any, Column],
    *keys: str,
    labels: Mapping[str, Column | str] | None = None,
    cell: Callable[[Mapping[str, Any]], Cell] = figure,
) -> Table:
    """A table with a row per combination of labels, in the order of the rows, and a column per value of the keys.

    rows: the labels, the keys and the columns of `metrics` or `comparisons`; columns: value of the key, or tuple of
    values, -> column; labels: column of `rows` -> column, by default `name` -> system. A mean of fewer questions than others
    of its column states its n; one of clearly fewer, or that sees the answer where others do not, is never the best.
    """
    labels = labels or {"name": "system"}
    if "published" in rows.columns:  # means of `metrics`
        sees = pl.col("answer_aware") & (rows["answer_aware"].n_unique() > 1)
        rows = rows.with_columns(few=of_fewer(*keys, share=1), apart=of_fewer(*keys) | sees)
    lines = []
    for names, part in rows.group_by(*labels, maintain_order=True):
        by_key = {tuple(row[key] for key in keys): row for row in part.iter_rows(named=True)}
        picked = (by_key.get(key if isinstance(key, tuple) else (key,)) for key in columns)
        cells = (None if row is None else _cell(row, cell(row)) for row in picked)
        lines.append(Row((*names, *cells), style(part.row(0, named=True))))
    heads = (Column(head, align="left") if isinstance(head, str) else head for head in labels.values())
    return Table([*heads, *columns.values()], lines, labels=len(labels))


def _cell(row: Mapping[str, Any], cell: Cell) -> Cell:
    """The cell of a mean, with its n where others have more questions."""
    if not isinstance(cell, Number) or "apart" not in row:
        return cell
    return replace(cell, notes=(*cell.notes, *([f"n {row['n']}"] if row["few"] else [])), apart=row["apart"])


def note(rows: pl.DataFrame, **where: Any) -> str:
    """Number of questions, split, and where the rows are found. where: column of the table -> value."""
    counts = rows["n"].unique().sort().to_list()
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    place = ", ".join(f"{column} = {value}" for column, value in where.items())
    return f"n = {n} questions, split {rows['split'][0]}, 95 % intervals. Rows: {place}."


# --- plots ---------------------------------------------------------------------------------------


def dots(
    rows: pl.DataFrame,
    families: Mapping[str, str],
    label: str,
    xlabel: str,
    shown: int,
    reference: tuple[float, str] | None = None,
) -> Part:
    """The first rows of figures as a plot, wide and narrow, and all of them as a table behind it.

    rows: name, system, value, low, high, n, units, best first, and group where lines stand under heads; label: text
    alternative; shown: rows drawn.
    """
    if rows.is_empty():
        return {}
    value, lines, drawn = Column(xlabel), [], []
    for row in rows.iter_rows(named=True):
        lines.append(Row((row["name"], figure(row), row["n"], row["units"])))
        family, group = families.get(row["system"], "imported"), row.get("group", "")
        ends = row["value"], row["low"], row["high"]
        drawn.append(Dot(row["name"], family, *ends, inline(figure(row), value), f"n {row['n']}", group))
    return {
        "figures": [forests(drawn[:shown], label, xlabel, reference)],
        "behind": Table([Column("system"), value, Column("n"), Column("units")], lines),
        "note": f"The best {shown} of {rows.height}." if rows.height > shown else "",
    }
