"""What commands share: where results stand, tables as text."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.limits import command, unlimited
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table

__all__ = ["EXPERIMENTS", "FORMATS", "aligned", "experiment_named", "table_of", "written"]

EXPERIMENTS = Path("results/experiments")
FORMATS = ("text", "json", "csv", "md", "latex")
Rows = Sequence[Mapping[str, Any]]


def experiment_named(name: str) -> str:
    """The name of an experiment that there is; SecateurError with the nearest one, where there is none."""
    known = sorted(path.stem for path in Path("conf/experiment").glob("*.yaml"))
    whole, _ = unlimited(name)
    if known and whole not in known:
        raise SecateurError(f"{name}: no such experiment; there are {', '.join(known)}{nearest(name, known)}")
    return name


def table_of(experiment: str, name: str) -> pl.DataFrame:
    """A table of an experiment; SecateurError names the command to run where it has not run."""
    path = EXPERIMENTS / experiment_named(experiment) / f"{name}.parquet"
    if not path.exists():
        raise SecateurError(f"{experiment} has not been run here. Fix: {command(experiment)}")
    return read_table(TABLES[name], path)


def aligned(rows: Rows) -> str:
    """Rows as a plain table."""
    if not rows:
        return "no rows"
    heads, cells = _cells(rows)
    lines = [heads, *cells]
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def _cells(rows: Rows) -> tuple[list[str], list[list[str]]]:
    heads = list(rows[0])
    return heads, [[_text(row[head]) for head in heads] for row in rows]


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def written(rows: Rows, form: str) -> str:
    """Rows as text, JSON, CSV, Markdown or LaTeX (booktabs).

    >>> print(written([{"row": "a_b", "value": 0.5}], "latex"))
    \\begin{tabular}{lr}
    \\toprule
    row & value \\\\
    \\midrule
    a\\_b & 0.5000 \\\\
    \\bottomrule
    \\end{tabular}
    """
    if form == "json":
        return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"
    if form == "text" or not rows:
        return aligned(rows)
    heads, cells = _cells(rows)
    if form == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([heads, *([row[head] for head in heads] for row in rows)])
        return stream.getvalue().rstrip("\n")
    if form == "md":
        return "\n".join("| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *cells])
    numbers = [isinstance(rows[0][head], int | float) and not isinstance(rows[0][head], bool) for head in heads]
    lines = [" & ".join(map(_escaped, line)) + r" \\" for line in (heads, *cells)]
    columns = "".join("r" if one else "l" for one in numbers)
    body = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])


SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"}
SIGNS |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escaped(text: str) -> str:
    return "".join(SIGNS.get(sign, sign) for sign in text)
