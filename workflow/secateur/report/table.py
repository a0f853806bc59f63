"""A small table for people and its writers: HTML, Markdown, LaTeX, CSV and plain text."""

import csv as csv_format
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

__all__ = [
    "Cell",
    "Column",
    "Number",
    "Row",
    "Table",
    "csv",
    "html",
    "inline",
    "interval",
    "latex",
    "markdown",
    "plain",
]
__all__ += ["floated", "tidy"]

WIDTH = 6  # columns that a reader takes in at once
UNBOUNDED = "unbounded"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Number:
    """A number with its interval.

    notes: lines of small print below the interval; digits: decimals, those of its column by default; mark: what stands behind it.
    apart: not to be compared with the others of its column, so never the best.
    """

    value: float
    low: float | None = None
    high: float | None = None
    notes: tuple[str, ...] = ()
    digits: int | None = None
    mark: str = ""
    apart: bool = False


Cell = str | int | float | Number | None


@dataclass(frozen=True)
class Column:
    """A column. digits: decimals of its numbers; best: the number that is bold.

    signed: differences, shown with their sign; an interval that lacks an end is unbounded.
    """

    head: str
    digits: int = 3
    best: Literal["higher", "lower", ""] = ""
    align: Literal["left", "right"] = "right"
    signed: bool = False


@dataclass(frozen=True)
class Row:
    """A row. style: what sets it off from the others, `ours` or `published`."""

    cells: tuple[Cell, ...]
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table. labels: the number of leading columns that name the rows."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    labels: int = 1

    @property
    def heads(self) -> list[str]:
        return [column.head for column in self.columns]

    def texts(self) -> list[list[str]]:
        """The cells of each row as text, without intervals and small print."""
        return [[_text(cell, c) for cell, c in zip(row.cells, self.columns, strict=True)] for row in self.rows]

    def values(self, n: int) -> list[float]:
        """The numbers of a column that can be compared."""
        cells = (row.cells[n] for row in self.rows if not _is_apart(row.cells[n]))
        numbers = (cell.value if isinstance(cell, Number) else cell for cell in cells)
        return [number for number in numbers if isinstance(number, int | float)]

    def bold(self) -> list[float | None]:
        """The best number of each column, or None where no best is asked for or there is nothing to beat."""
        choose = {"higher": max, "lower": min}
        columns = [(column, self.values(n)) for n, column in enumerate(self.columns)]
        return [choose[c.best](values) if c.best and len(set(values)) > 1 else None for c, values in columns]


# --- cells ---------------------------------------------------------------------------------------


def _number(value: float, column: Column, digits: int | None = None) -> str:
    digits = column.digits if digits is None else digits
    return f"{value + 0.0:{'+' if column.signed else ''},.{digits}f}"  # + 0.0: zero has no sign


def _text(cell: Cell, column: Column) -> str:
    """A cell without its interval and small print; empty for None."""
    value, digits = (cell.value, cell.digits) if isinstance(cell, Number) else (cell, None)
    if isinstance(value, float):
        return _number(value, column, digits) + (cell.mark if isinstance(cell, Number) else "")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def interval(cell: Cell, column: Column) -> str:
    """`low to high` of a number; an end that too few units bound is unbounded. Empty without an interval.

    >>> interval(Number(0.2, 0.1, 0.25), Column("")), interval(Number(0.2, None, 0.25), Column("", 2, signed=True))
    ('0.100 to 0.250', 'unbounded to +0.25')
    """
    if not isinstance(cell, Number):
        return ""
    if cell.low is None and cell.high is None:
        return UNBOUNDED if column.signed else ""
    return " to ".join(UNBOUNDED if e is None else _number(e, column, cell.digits) for e in (cell.low, cell.high))


def _small(cell: Cell, column: Column) -> list[str]:
    """The lines of small print: the interval, then the notes."""
    notes = cell.notes if isinstance(cell, Number) else ()
    return [line for line in (interval(cell, column), *notes) if line]


def inline(cell: Cell, column: Column) -> str:
    """A cell with its interval and notes in one line.

    >>> inline(Number(0.25, 0.1, 0.3, ("n 12",)), Column("recall"))
    '0.250 (0.100 to 0.300; n 12)'
    """
    small = "; ".join(_small(cell, column))
    return _text(cell, column) + (f" ({small})" if small else "")


def _is_best(cell: Cell, best: float | None) -> bool:
    return best is not None and not _is_apart(cell) and (cell.value if isinstance(cell, Number) else cell) == best


def _is_apart(cell: Cell) -> bool:
    return isinstance(cell, Number) and cell.apart


# --- shape ---------------------------------------------------------------------------------------


def tidy(table: Table) -> Table:
    """The table without its constant columns; their value stands in the caption.

    >>> table = Table([Column("row"), Column("n"), Column("x")], [Row(("a", 5, 0.1)), Row(("b", 5, 0.2))])
    >>> tidy(table).heads, tidy(table).caption
    (['row', 'x'], 'n: 5 in all rows.')
    """
    kept, notes = [0], [table.caption] if table.caption else []
    for n, column in enumerate(table.columns[1:], 1):
        cells = {inline(row.cells[n], column) for row in table.rows}
        if cells == {""}:
            continue
        if len(cells) == 1 and len(table.rows) > 1:
            notes.append(f"{column.head}: {cells.pop()} in all rows.")
        else:
            kept.append(n)
    return replace(_chosen(table, kept), caption=" ".join(notes))


def _chosen(table: Table, columns: Sequence[int]) -> Table:
    rows = [replace(row, cells=tuple(row.cells[n] for n in columns)) for row in table.rows]
    labels = sum(n < table.labels for n in columns)
    return replace(table, columns=[table.columns[n] for n in columns], rows=rows, labels=labels)


def _blocks(table: Table) -> Iterator[Table]:
    """The table in blocks of at most six columns, each with the labels of the rows."""
    labels, others = list(range(table.labels)), list(range(table.labels, len(table.columns)))
    count = max(math.ceil(len(others) / max(WIDTH - table.labels, 1)), 1)
    size = max(math.ceil(len(others) / count), 1)
    for start in range(0, max(len(others), 1), size):
        yield _chosen(table, [*labels, *others[start : start + size]])


# --- writers -------------------------------------------------------------------------------------


def html(table: Table, first: int = 0) -> str:
    """The table as HTML, without constant columns, in blocks of at most six columns.

    first: rows that stand open; the whole table is folded below them. 0: all are open.
    """
    shown = tidy(table)
    caption = f'<p class="note">{escape(shown.caption)}</p>' if shown.caption else ""
    whole = "\n".join(map(_html, _blocks(shown)))
    if not first or len(table.rows) <= first:
        return whole + caption
    opened = _html(next(_blocks(replace(shown, rows=shown.rows[:first]))))
    return f"{opened}\n<details><summary>all {len(table.rows)} rows</summary>{whole}</details>{caption}"


def _html(table: Table) -> str:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    best, lines = table.bold(), []
    for row in table.rows:
        cells = zip(row.cells, table.columns, best, strict=True)
        tags = "".join(_html_cell(n, cell, column, top) for n, (cell, column, top) in enumerate(cells))
        lines.append(f'<tr class="{row.style}">{tags}</tr>')
    body = "\n".join(lines)
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def _html_cell(n: int, cell: Cell, column: Column, best: float | None) -> str:
    text, small = escape(_text(cell, column)), escape("\n".join(_small(cell, column)))
    text = f"<b>{text}</b>" if _is_best(cell, best) else text
    text += f"<small>{small}</small>" if small else ""
    if n == 0:
        return f'<th scope="row">{text}</th>'
    return f'<td class="left">{text}</td>' if column.align == "left" else f"<td>{text}</td>"


def _bold(table: Table, mark: str) -> list[list[str]]:
    """The cells of each row in one line, the best number between marks such as `**{}**`."""
    best, lines = table.bold(), []
    for row in table.rows:
        line = []
        for cell, column, top in zip(row.cells, table.columns, best, strict=True):
            text, whole = _text(cell, column), inline(cell, column)
            line.append(mark.format(text) + whole[len(text) :] if _is_best(cell, top) else whole)
        lines.append(line)
    return lines


def markdown(table: Table) -> str:
    """The table in Markdown.

    >>> print(markdown(Table([Column("row"), Column("x", best="higher")], [Row(("a", 0.5)), Row(("b", 0.25))])))
    | row | x |
    | --- | ---: |
    | a | **0.500** |
    | b | 0.250 |
    """
    marks = ["---" if n == 0 or column.align == "left" else "---:" for n, column in enumerate(table.columns)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [table.heads, marks, *_bold(table, "**{}**")])


SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"}
SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"}
SIGNS |= {"*": "{*}", "[": "{[}"}  # at the head of a row they would belong to the end of the last
SIGNS |= {"†": r"$^\dagger$", "–": "--", "<": "$<$", ">": "$>$", "|": "$|$", MINUS: "$-$", "★": r"$\star$"}
SIGNS |= {"≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "→": r"$\to$", "Δ": r"$\Delta$"}
LATIN = "\N{LATIN SMALL LETTER LONG S}"  # the last letter that pdfLaTeX sets without more packages
PREAMBLE = r"% needs \usepackage{booktabs}"
SCRIPTS = f"{PREAMBLE}, and XeLaTeX or LuaLaTeX with a font for its letters"
BOLD = "\x02{}\x03"  # marks that no text has, until the text between them is escaped


def latex(table: Table) -> str:
    """The table in LaTeX, with booktabs.

    >>> print(latex(Table([Column("row"), Column("value")], [Row(("a_b", 0.5))])))
    % needs \\usepackage{booktabs}
    \\begin{tabular}{lr}
    \\toprule
    row & value \\\\
    \\midrule
    a\\_b & 0.500 \\\\
    \\bottomrule
    \\end{tabular}
    """
    return _noted([f"% {table.caption}"] * bool(table.caption) + _tabular(table))


def floated(table: Table) -> str:
    """The table in LaTeX as one that floats, with its caption."""
    caption = rf"\caption{{{_escaped(table.caption)}}}"
    return _noted([r"\begin{table}", r"\centering\small", caption, *_tabular(table), r"\end{table}"])


def _noted(lines: Sequence[str]) -> str:
    """The lines below a comment that says what they need."""
    other = any(sign.isalpha() and sign > LATIN for line in lines for sign in line)
    return "\n".join([SCRIPTS if other else PREAMBLE, *lines])


def _tabular(table: Table) -> list[str]:
    lines = [" & ".join(map(_escaped, line)) + r" \\" for line in [table.heads, *_bold(table, BOLD)]]
    columns = "".join("l" if n == 0 or c.align == "left" else "r" for n, c in enumerate(table.columns))
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return [rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"]


def _escaped(text: str) -> str:
    """A text in LaTeX; a hyphen before a number is a minus sign."""
    text = re.sub(r"(?<!\w)-(?=[\d.])", MINUS, text)
    return "".join(SIGNS.get(sign, sign) for sign in text).replace("\x02", r"\textbf{").replace("\x03", "}")


def csv(table: Table) -> str:
    """The table as CSV with all digits; numbers have two more columns for their intervals, and one for their marks if any has one."""
    columns = [_csv(head, [row.cells[n] for row in table.rows]) for n, head in enumerate(table.heads)]
    stream = io.StringIO()
    csv_format.writer(stream, lineterminator="\n").writerows(
        zip(*(column for group in columns for column in group), strict=True)
    )
    return stream.getvalue().rstrip("\n")


def _csv(head: str, cells: Sequence[Cell]) -> list[list[str | float | None]]:
    """A column as columns of CSV."""
    numbers = [cell if isinstance(cell, Number) else None for cell in cells]
    values = [cell.value if isinstance(cell, Number) else cell for cell in cells]
    if not any(numbers):
        return [[head, *values]]
    ends = [[f"{head} {end}", *(getattr(number, end, None) for number in numbers)] for end in ("low", "high")]
    marks = [number.mark.strip() if number else "" for number in numbers]
    return [[head, *values], *ends, *([[f"{head} mark", *marks]] if any(marks) else [])]


def plain(table: Table) -> str:
    """The table for a terminal, its columns padded."""
    if not table.rows:
        return "no rows"
    cells = [[inline(cell, c) or "-" for cell, c in zip(row.cells, table.columns, strict=True)] for row in table.rows]
    lines = [table.heads, *cells]
    widths = [max(len(line[n]) for line in lines) for n in range(len(table.columns))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)
