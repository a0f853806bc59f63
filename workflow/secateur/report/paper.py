"""The tables and figures of the papers: published cells as printed, measured ones from whatever has been run, gaps named.

`data/artefacts.yaml` says what each holds. A measured cell is the one row of `metrics` that fits its column and its row,
of the experiment as it stands in `results`, else as it was kept in `docs/results`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from secateur.config.limits import command
from secateur.core.errors import SecateurError, nearest
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.published import published_statistics
from secateur.report.kept import kept_table
from secateur.report.plots.charts import Dot, forest
from secateur.report.plots.style import saved
from secateur.report.table import Column, Row, Table, latex, markdown

__all__ = ["Artefact", "Cell", "artefact", "drawn", "names", "written"]


PLACE = ("experiment", "command", "of", "reader", "published")  # keys that say no column of `metrics`
PRINTED, GAP = "†", "–"
BENCH = "bench"  # no experiment: benchmarks write no rows of `metrics`


@dataclass(frozen=True)
class Cell:
    """A cell. printed: as published; measured: (value, low, high, n); fix: what fills it where it is a gap."""

    row: str
    column: str
    printed: float | str | None
    measured: tuple[float, float | None, float | None, int] | None
    fix: str


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper with its cells, row by row; without cells, where it is made."""

    name: str
    title: str
    source: str
    note: str
    unit: str
    digits: int
    cells: tuple[Cell, ...]
    where: str = ""


def names(root: Path) -> dict[str, str]:
    """The artefacts that there are, with their titles."""
    return {name: spec["title"] for name, spec in _specs(root).items()}


def artefact(root: Path, name: str) -> Artefact:
    """A table or figure, filled with what has been run. Raises SecateurError for a name that there is none of."""
    specs = _specs(root)
    if name not in specs:
        raise SecateurError(
            f"--paper {name}: no such table or figure; there are {', '.join(specs)}{nearest(name, specs)}"
        )
    spec = specs[name]
    whole = specs[spec["same_as"]] | spec if "same_as" in spec else spec
    cells = (
        _of_statistics(root, whole) if "statistics" in whole else _of_metrics(root, whole) if "rows" in whole else []
    )
    said = {key: whole[key] for key in ("title", "source", "note")}
    return Artefact(
        name=name,
        unit=whole.get("unit", ""),
        digits=whole.get("digits", 3),
        cells=tuple(cells),
        where=whole.get("where", ""),
        **said,
    )


def _specs(root: Path) -> dict[str, dict[str, Any]]:
    return yaml.safe_load((root / "data" / "artefacts.yaml").read_text(encoding="utf-8"))


def _of_metrics(root: Path, spec: Mapping[str, Any]) -> list[Cell]:
    tables = {own["experiment"]: _metrics(root, own["experiment"]) for own in spec["columns"].values()}
    found = []
    for row, asked in spec["rows"].items():
        for (column, own), printed in zip(spec["columns"].items(), asked["published"], strict=True):
            wanted = {"metric": spec.get("metric")} | {k: v for k, v in (own | asked).items() if k not in PLACE}
            if asked.get("reader") and "system" in wanted:
                wanted["system"] += own.get("of", "")
            frame = tables[own["experiment"]]
            measured = _one(frame, wanted) if "system" in wanted and not frame.is_empty() else None
            fix = own.get("command", command(own["experiment"])) if "system" in asked else "nothing here makes it"
            if own["experiment"] == BENCH:
                fix = own["command"]
            found.append(Cell(row, column, printed, measured, fix))
    return found


def _metrics(root: Path, experiment: str) -> pl.DataFrame:
    """The rows of an experiment as it was run here, else as its figures were kept; none where neither."""
    path = root / "results" / "experiments" / experiment / "metrics.parquet"
    return read_table(TABLES["metrics"], path) if path.exists() else kept_table(root / "docs", experiment, "metrics")


def _one(frame: pl.DataFrame, wanted: Mapping[str, Any]) -> tuple[float, float | None, float | None, int] | None:
    """The figure of the row that fits; None where there is none, or no single one."""
    own = frame.filter(~pl.col("published"), *(pl.col(key) == value for key, value in wanted.items()))
    return own.select("value", "low", "high", "n").row(0) if own.height == 1 else None


def _of_statistics(root: Path, spec: Mapping[str, Any]) -> list[Cell]:
    """Sizes of data sets as stated and as counted."""
    found = []
    for column, datasets in spec["statistics"].items():
        counted = _counted(root, datasets)
        stated = published_statistics(root / "data" / "published.yaml", datasets)
        for dataset, statistic, printed in stated.select("dataset", "statistic", "stated").iter_rows():
            value = counted.get((dataset, statistic))
            row = f"{statistic.replace('_', ' ')} ({dataset})"
            found.append(Cell(row, column, printed, value, spec["commands"][column]))
    return found


def _counted(root: Path, datasets: Sequence[str]) -> dict[tuple[str, str], tuple]:
    """(data set, statistic) -> its mean, range and number, of the data sets that are described here."""
    found = {}
    for dataset in datasets:
        for path in sorted((root / "results").glob(f"*/{dataset}/description/dataset_statistics.parquet")):
            table = read_table(TABLES["dataset_statistics"], path)
            for row in table.iter_rows(named=True):
                found[dataset, row["statistic"]] = (row["mean"], None, None, row["n"])
    return found


# --- written and drawn -----------------------------------------------------------------------------


def written(made: Artefact, form: str) -> str:
    """An artefact as a table in Markdown, CSV or LaTeX."""
    return {"md": _markdown, "csv": _csv, "latex": lambda one: latex(_table(one))}[form](made)


def _said(made: Artefact, cell: Cell) -> str:
    """Published, then measured with its interval and n; a gap where there is neither."""
    parts = [] if cell.printed is None else [f"{_number(cell.printed, made.digits)}{PRINTED}"]
    if cell.measured:
        value, low, high, n = cell.measured
        between = "" if low is None else f" ({_number(low, made.digits)} to {_number(high, made.digits)})"
        parts.append(f"{_number(value, made.digits)}{between}, n {n}")
    return "; ".join(parts) or GAP


def _number(value: float | str, digits: int) -> str:
    return value if isinstance(value, str) else f"{value:,.{digits}f}"


def _table(made: Artefact) -> Table:
    columns = list(dict.fromkeys(cell.column for cell in made.cells))
    rows = list(dict.fromkeys(cell.row for cell in made.cells))
    known = {(cell.row, cell.column): _said(made, cell) for cell in made.cells}
    lines = [Row((row, *(known.get((row, column)) for column in columns))) for row in rows]
    heads = [Column(""), *(Column(column, align="left") for column in columns)]
    return Table(heads, lines, f"{made.title}; {made.source}")


def _gaps(made: Artefact) -> list[str]:
    """What fills the cells that are not measured, each command once, with the columns it fills."""
    wanted: dict[str, dict[str, None]] = {}
    for cell in made.cells:
        if not cell.measured:
            wanted.setdefault(cell.fix, {})[cell.column] = None
    return [f"{', '.join(columns)}: {fix}" for fix, columns in wanted.items()]


def _markdown(made: Artefact) -> str:
    if not made.cells:
        return f"**{made.title}** ({made.source})\n\n{made.where}\n\n{made.note}"
    lines = [f"**{made.title}** ({made.source}; {made.unit or 'as stated'})", "", markdown(_table(made))]
    lines += ["", f"{PRINTED} as published. {made.note} Measured cells have a 95 % interval and n."]
    gaps = _gaps(made)
    return "\n".join(
        [*lines, *(["", "Not measured here, and what fills it:", *(f"- {gap}" for gap in gaps)] if gaps else [])]
    )


def _csv(made: Artefact) -> str:
    rows = []
    for cell in made.cells:
        value, low, high, n = cell.measured or (None, None, None, None)
        printed = None if cell.printed is None else str(cell.printed)
        rows.append((cell.row, cell.column, printed, value, low, high, n, None if cell.measured else cell.fix))
    columns = ("row", "column", "published", "measured", "low", "high", "n", "filled_by")
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None).write_csv().rstrip()


def drawn(made: Artefact, path: Path) -> None:
    """Writes the plot of an artefact: published figures hollow, measured ones with their intervals, gaps in words."""
    cells = [cell for cell in made.cells if not isinstance(cell.printed, str)]
    if not cells:
        raise SecateurError(f"--paper {made.name} has no numbers to draw. Fix: --format md, csv or latex.")
    columns = list(dict.fromkeys(cell.column for cell in cells))
    ordered = [cell for column in columns for cell in cells if cell.column == column]
    xlabel = "; ".join(filter(None, (made.unit, "hollow: published, full: measured, 95 % intervals")))
    saved(forest([dot for cell in ordered for dot in _dots(made, cell)], xlabel), path)


def _dots(made: Artefact, cell: Cell) -> Iterator[Dot]:
    """The lines of a cell: the published figure, the measured one, or that there is neither."""
    if cell.printed is not None:
        value, said = cell.printed, f"{_number(cell.printed, made.digits)} published"
        yield Dot(cell.row, "lexical", value, value, value, said, "", cell.column, hollow=True)
    if cell.measured:
        value, *ends, _ = cell.measured
        ends = [value if end is None else end for end in ends]
        yield Dot(cell.row, "graph", value, *ends, _said(made, replace(cell, printed=None)), "", cell.column)
    elif cell.printed is None:
        yield Dot(cell.row, "graph", 0, None, None, "no figure", "", cell.column, empty=True)
