"""Figures as the report's tables show them."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from secateur.evaluation.comparison import significant
from secateur.evaluation.metric import figure_of
from secateur.report.plots.charts import Dot, forests
from secateur.report.table import UNBOUNDED, Cell, Column, Number, Row, Table

__all__ = [
    "MEMORY",
    "NOT_ENOUGH",
    "bounds",
    "difference",
    "dots",
    "enough_data",
    "figure",
    "form",
    "interval",
    "named",
    "not_enough_data",
    "note",
    "number",
    "pivoted",
    "row_name",
    "row_of",
    "said",
    "sizes",
    "verdict",
    "with_enough_data",
]

OURS = ("secateur", "beam", "ecs")  # the systems that the others are there to be compared with
MEMORY = {  # figure of a session: what it is called, digits
    "memory_tokens_first": ("tokens of a session's first prompt", 0),
    "memory_tokens_later": ("tokens of a later prompt, as sent", 0),
    "memory_tokens_later_alone": ("the same without memory", 0),
    "memory_tokens_to_first": ("a later prompt over its session's first", 3),
    "memory_reuse": ("needed symbols and edges that the session has met", 3),
    "memory_growth_first": ("symbols and edges that a first question adds", 0),
    "memory_growth_later": ("symbols and edges that a later question adds", 0),
    "memory_evidence_recall": ("evidence recall of all that the reader holds", 3),
    "memory_evidence_recall_alone": ("evidence recall without memory", 3),
    "memory_evidence_recall_equal": ("evidence recall without memory, at the tokens sent with it", 3),
    "memory_evidence_recall_gain": ("evidence recall that memory gives at equal tokens sent", 3),
    "memory_token_recall": ("token recall of all that the reader holds", 3),
    "memory_token_recall_alone": ("token recall without memory", 3),
    "memory_token_recall_equal": ("token recall without memory, at the tokens sent with it", 3),
    "memory_token_recall_gain": ("token recall that memory gives at equal tokens sent", 3),
}
NOT_ENOUGH = "not enough data"
FEW = 20  # questions below which there is no verdict, whatever the units


# --- names ---------------------------------------------------------------------------------------


def row_name(system: str, scorer: str | None) -> str:
    """How a row is called: its system, with its scorer where it has several.

    >>> row_name("secateur", None), row_name("rankers", "bm25")
    ('secateur', 'rankers · bm25')
    """
    return f"{system} · {scorer}" if scorer else system


def row_of(name: str) -> tuple[str, str | None]:
    """The system and the scorer of a row by its name, which may have a slash in the place of the dot.

    >>> row_of("secateur:dense"), row_of("rankers/bm25"), row_of("rankers · bm25")
    (('secateur:dense', None), ('rankers', 'bm25'), ('rankers', 'bm25'))
    """
    system, _, scorer = name.replace(" · ", "/", 1).partition("/")
    return system.strip(), scorer.strip() or None


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of figures with `name`."""
    names = [row_name(*row) for row in rows.select("system", "scorer").iter_rows()]
    return rows.with_columns(name=pl.Series(names, dtype=pl.String))


def form(system: str, published: bool = False) -> str:
    """How a line of a table is set off from the others."""
    return "published" if published else "ours" if system.partition(":")[0] in OURS else ""


def said(metric: str) -> str:
    """A metric in words.

    >>> said("evidence_recall@claim"), said("token_recall@64"), said("rouge_l")
    ('evidence recall over the budgets claimed', 'token recall at 64 tokens', 'rouge l')
    """
    base, _, budget = metric.partition("@")
    at = {"": "", "claim": " over the budgets claimed"}.get(budget, f" at {budget} tokens")
    return figure_of(base).title + at


# --- figures -------------------------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """A figure; empty for None.

    >>> number(0.25), number(1234.5, 0), number(None)
    ('0.250', '1,234', '')
    """
    return "" if value is None else f"{value:,.{digits}f}"


def interval(row: Mapping[str, Any], digits: int = 3) -> str:
    """`low to high` of a row of figures; empty where it has no interval.

    >>> interval({"low": 0.1, "high": 0.25})
    '0.100 to 0.250'
    """
    return "" if row["low"] is None else f"{number(row['low'], digits)} to {number(row['high'], digits)}"


def note(rows: pl.DataFrame, where: str) -> str:
    """How many questions rows speak of, and where they are found."""
    counts = rows["n"].unique().sort().to_list()
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"n = {n} questions, split {rows['split'][0]}, 95 % intervals. Rows: {where}."


# --- tables --------------------------------------------------------------------------------------


def figure(row: Mapping[str, Any] | None, *notes: str) -> Number | None:
    """The cell of a mean with its interval."""
    return Number(row["value"], row["low"], row["high"], notes) if row else None


def pivoted(
    rows: pl.DataFrame,
    columns: Mapping[Any, Column],
    *keys: str,
    name: str = "name",
    head: str = "system",
    cell: Callable[[Mapping[str, Any] | None], Cell] = figure,
) -> Table:
    """A table with one row per name, in the order of the rows, and one column per value of the keys.

    rows: `name` and the columns of `metrics`; columns: value of the key, or tuple of values, -> column.
    """
    lines = []
    for (label,), part in rows.group_by(name, maintain_order=True):
        by = {tuple(row[key] for key in keys): row for row in part.iter_rows(named=True)}
        cells = (cell(by.get(key if isinstance(key, tuple) else (key,))) for key in columns)
        style = form(part["system"][0]) if "system" in part.columns else ""
        lines.append(Row((label, *cells), style))
    return Table([Column(head), *columns.values()], lines)


# --- what figures rest on ------------------------------------------------------------------------


def enough_data(n, units, min_units: int):
    """Whether n questions in so many resampling units are enough for a verdict; numbers or columns."""
    return (n >= FEW) & (units >= min_units)


def with_enough_data(rows: pl.DataFrame, min_units: int) -> pl.DataFrame:
    """Figures or differences with the column `enough_data`."""
    return rows.with_columns(enough_data=enough_data(pl.col("n"), pl.col("units").fill_null(0), min_units))


def verdict(p: float, enough: bool, confidence: float = 0.95) -> str:
    """A test in words.

    >>> verdict(0.01, True), verdict(0.2, True), verdict(0.01, False)
    ('significant', 'not significant', 'not enough data')
    """
    return NOT_ENOUGH if not enough else "significant" if significant(p, confidence) else "not significant"


def sizes(row: Mapping[str, Any]) -> str:
    """What a figure or a difference rests on."""
    return " in ".join(
        f"{row[of]} {one}{'' if row[of] == 1 else 's'}" for of, one in (("n", "question"), ("units", "unit"))
    )


def not_enough_data(rows: pl.DataFrame) -> str:
    """What stands in the place of a plot where its rows rest on too little; nothing where one of them does not, or none is
    there.

    >>> not_enough_data(pl.DataFrame({"n": [5, 4], "units": [3, 3], "enough_data": [False, False]}))
    'Not enough data: 5 questions in 3 units.'
    """
    if rows.is_empty() or rows["enough_data"].any():
        return ""
    return f"{NOT_ENOUGH.capitalize()}: {sizes(rows.sort('n', descending=True).row(0, named=True))}."


# --- differences ---------------------------------------------------------------------------------


def bounds(row: Mapping[str, Any], digits: int = 3) -> str:
    """`low to high` of a difference; an end that too few units bound is unbounded.

    >>> bounds({"low": -0.1, "high": 0.25}), bounds({"low": None, "high": None})
    ('-0.100 to +0.250', 'unbounded')
    """
    ends = [UNBOUNDED if row[end] is None else f"{row[end]:+.{digits}f}" for end in ("low", "high")]
    return UNBOUNDED if ends == [UNBOUNDED, UNBOUNDED] else " to ".join(ends)


def difference(row: Mapping[str, Any] | None) -> Number | None:
    """The cell of a paired difference, its p after Holm and sizes in small print."""
    if row is None:
        return None
    p = f"p {row['p_holm']:.4f}" + ("" if row["enough_data"] else f", {NOT_ENOUGH}")
    return Number(row["difference"], row["low"], row["high"], (p, sizes(row)))


# --- plots ---------------------------------------------------------------------------------------


def dots(
    rows: pl.DataFrame,
    families: Mapping[str, str],
    label: str,
    xlabel: str,
    shown: int,
    digits: int = 3,
    reference: tuple[float, str] | None = None,
) -> dict[str, Any]:
    """What a part shows of rows of figures: the first of them as a plot with a line each, wide and narrow, and a table of
    all behind it; no plot where they rest on too little. rows: name, system, value, low, high, n, units, enough_data, best first; group where lines stand under
    heads."""
    drawn = rows.filter("enough_data")
    if drawn.is_empty():
        return {"text": not_enough_data(rows)}
    made = [
        Dot(
            name=row["name"],
            family=families.get(row["system"], "imported"),
            value=row["value"],
            low=row["low"],
            high=row["high"],
            figures=f"{number(row['value'], digits)} ({interval(row, digits) or 'no interval'})",
            counts=f"n {row['n']}",
            group=row.get("group", ""),
        )
        for row in drawn.head(shown).iter_rows(named=True)
    ]
    rest = f"The best {shown} of {drawn.height}." if drawn.height > shown else ""
    columns = [Column("system"), Column(xlabel, digits), Column("n"), Column("units")]
    lines = [Row((row["name"], figure(row), row["n"], row["units"])) for row in drawn.iter_rows(named=True)]
    return {"figures": [forests(made, label, xlabel, reference)], "behind": Table(columns, lines), "note": rest}
