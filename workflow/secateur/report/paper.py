"""The tables and figures of the papers: cells as published, cells as measured here, and what fills the gaps.

`data/artefacts.yaml` declares them. A measured cell is the single row of `metrics` that matches its column and its row,
of the experiment in `results`, else of its kept figures in `docs/results`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
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
from secateur.report.recorded import RECORDED, recorded
from secateur.report.table import Column, Number, Row, Table, inline, latex, markdown
from secateur.stage.ledger import run_overrides

__all__ = ["Artefact", "Cell", "artefact", "drawn", "names", "written"]

# Keys of a spec that are no columns of `metrics`.
PLACE = ("experiment", "command", "of", "reader", "published", "differs", "only")
PRINTED, GAP = "†", "–"
BENCH = "bench"  # benchmarks are no experiment and write no rows of `metrics`
Spec = Mapping[str, Any]
Measured = tuple[float, float | None, float | None, int]  # value, low, high, n


@dataclass(frozen=True)
class Cell:
    """A cell. printed: as published; fix: the command that measures it; differs: from the published protocol, in words."""

    row: str
    column: str
    printed: float | str | None
    measured: Measured | None
    fix: str
    differs: str = ""


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper with its cells, row by row. where: the place of one without cells."""

    name: str
    title: str
    source: str
    note: str
    cells: tuple[Cell, ...]
    unit: str = ""
    digits: int = 3
    where: str = ""


def names(root: Path) -> dict[str, str]:
    """Name -> title of every artefact."""
    return {name: spec["title"] for name, spec in _specs(root).items()}


def artefact(root: Path, name: str) -> Artefact:
    """A table or figure with the figures measured here. Raises SecateurError for an unknown name."""
    specs = _specs(root)
    if name not in specs:
        raise SecateurError(
            f"--paper {name}: no such table or figure; allowed: {', '.join(specs)}{nearest(name, specs)}"
        )
    spec = specs.get(specs[name].get("same_as"), {}) | specs[name]
    cells = _of_statistics(root, spec) if "statistics" in spec else _of_metrics(root, spec) if "rows" in spec else ()
    labels = {key: spec[key] for key in ("title", "source", "note", "unit", "digits", "where") if key in spec}
    return Artefact(name=name, cells=tuple(cells), **labels)


def _specs(root: Path) -> dict[str, dict[str, Any]]:
    return yaml.safe_load((root / "data" / "artefacts.yaml").read_text(encoding="utf-8"))


def _of_metrics(root: Path, spec: Spec) -> Iterator[Cell]:
    """Cells from rows of `metrics`. A row's `only` names the one column that it has a cell in."""
    tables = cache(lambda experiment: _metrics(root, experiment))
    for name, row in spec["rows"].items():
        for (head, column), printed in zip(spec["columns"].items(), row["published"], strict=True):
            place = column | row
            if place.get("only", head) != head:
                continue
            labels = {"metric": spec.get("metric")} | {k: v for k, v in place.items() if k not in PLACE}
            if row.get("reader") and "system" in labels:
                labels["system"] += column.get("of", "")
            if labels["metric"] in RECORDED:
                measured = recorded(root, place["experiment"], labels["dataset"], labels["system"], labels["metric"])
            else:
                measured = _measured(tables(place["experiment"]), labels) if "system" in labels else None
            fix = place.get("command", command(place["experiment"]))
            if "system" not in row and place["experiment"] != BENCH:
                fix = "nothing here makes it"
            differs = [_differs(tables(place["experiment"]), place, labels, measured)]
            differs += _set_otherwise(root, place) if measured else []
            yield Cell(name, head, printed, measured, fix, ", ".join(filter(None, differs)))


def _metrics(root: Path, experiment: str) -> pl.DataFrame:
    """The rows of an experiment that was run here, else its kept figures; empty without either."""
    path = root / "results" / "experiments" / experiment / "metrics.parquet"
    return read_table(TABLES["metrics"], path) if path.exists() else kept_table(root / "docs", experiment, "metrics")


def _set_otherwise(root: Path, place: Spec) -> list[str]:
    """Overrides of the run whose figures a cell shows that its command does not name; none of kept figures."""
    declared = re.split(r"[\s'\"]+", place.get("command", ""))
    return [f"with {text}" for text in run_overrides(root, place["experiment"]) if text not in declared]


def _measured(metrics: pl.DataFrame, labels: Spec) -> Measured | None:
    """The figure of the matching row; None where no row or several match."""
    rows = metrics.filter(~pl.col("published"), **labels)
    return rows.select("value", "low", "high", "n").row(0) if rows.height == 1 else None


def _differs(metrics: pl.DataFrame, place: Spec, labels: Spec, measured: Measured | None) -> str:
    """What a cell has otherwise than the published protocol, as declared, and whether other rows answer more questions."""
    same = {column: labels[column] for column in ("dataset", "subset", "metric") if column in labels}
    whole = metrics.filter(~pl.col("published"), **same)["n"].max() if measured else None
    part = f"{measured[-1]} of {whole} questions" if measured and whole and measured[-1] < whole else ""
    return ", ".join(filter(None, [place.get("differs", ""), part]))


def _of_statistics(root: Path, spec: Spec) -> Iterator[Cell]:
    """Cells of sizes of data sets, as stated and as counted here."""
    for column, datasets in spec["statistics"].items():
        stated = published_statistics(root / "data" / "published.yaml", datasets)
        for dataset, statistic, printed in stated.select("dataset", "statistic", "stated").iter_rows():
            row = f"{statistic.replace('_', ' ')} ({dataset})"
            yield Cell(row, column, printed, _counted(root, dataset, statistic), spec["commands"][column])


def _counted(root: Path, dataset: str, statistic: str) -> Measured | None:
    """Mean and number of a statistic of a data set that is described here."""
    counted = None
    for path in sorted((root / "results").glob(f"*/{dataset}/description/dataset_statistics.parquet")):
        for row in read_table(TABLES["dataset_statistics"], path).filter(statistic=statistic).iter_rows(named=True):
            counted = (row["mean"], None, None, row["n"])
    return counted


# --- written and drawn -----------------------------------------------------------------------------


def written(paper: Artefact, form: str) -> str:
    """An artefact as a table. form: md, csv or latex."""
    return {"md": _markdown, "csv": _csv, "latex": lambda artefact: latex(_table(artefact))}[form](paper)


def _text(cell: Cell, digits: int) -> str:
    """The published figure, then the measured one with its interval and n; a dash without either."""
    column, texts = Column("", digits), []
    if cell.printed is not None:
        texts.append(
            (cell.printed if isinstance(cell.printed, str) else inline(Number(cell.printed), column)) + PRINTED
        )
    if cell.measured:
        *ends, n = cell.measured
        texts.append(f"{inline(Number(*ends), column)}, n {n}" + (f" ({cell.differs})" if cell.differs else ""))
    return "; ".join(texts) or GAP


def _table(paper: Artefact) -> Table:
    texts = {(cell.row, cell.column): _text(cell, paper.digits) for cell in paper.cells}
    rows, columns = (list(dict.fromkeys(key[side] for key in texts)) for side in (0, 1))
    lines = [Row((row, *(texts.get((row, column)) for column in columns))) for row in rows]
    heads = [Column(""), *(Column(column, align="left") for column in columns)]
    return Table(heads, lines, f"{paper.title}; {paper.source}")


def _markdown(paper: Artefact) -> str:
    """The table with its source and note, then each command that fills gaps with its columns."""
    if not paper.cells:
        return f"**{paper.title}** ({paper.source})\n\n{paper.where}\n\n{paper.note}"
    lines = [f"**{paper.title}** ({paper.source}; {paper.unit or 'as stated'})", "", markdown(_table(paper))]
    lines += [
        "",
        f"{PRINTED} as published. {paper.note} Measured cells have a 95 % interval and n, and in brackets what their protocol has otherwise.",
    ]
    gaps: dict[str, dict[str, None]] = {}
    for cell in paper.cells:
        if not cell.measured:
            gaps.setdefault(cell.fix, {})[cell.column] = None
    lines += ["", "Not measured here, and what fills it:"] * bool(gaps)
    return "\n".join([*lines, *(f"- {', '.join(columns)}: {fix}" for fix, columns in gaps.items())])


def _csv(paper: Artefact) -> str:
    rows = []
    for cell in paper.cells:
        printed = None if cell.printed is None else str(cell.printed)
        fix = None if cell.measured else cell.fix
        rows.append((cell.row, cell.column, printed, *(cell.measured or [None] * 4), fix, cell.differs or None))
    columns = ("row", "column", "published", "measured", "low", "high", "n", "filled_by", "differs")
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None).write_csv().rstrip()


def drawn(paper: Artefact, path: Path) -> None:
    """Writes the plot of an artefact: published figures hollow, measured ones with their intervals, gaps in words."""
    cells = [cell for cell in paper.cells if not isinstance(cell.printed, str)]
    if not cells:
        raise SecateurError(f"--paper {paper.name} has no numbers to draw. Fix: --format md, csv or latex.")
    columns = list(dict.fromkeys(cell.column for cell in cells))
    cells.sort(key=lambda cell: columns.index(cell.column))
    xlabel = "; ".join(filter(None, (paper.unit, "hollow: published, full: measured, 95 % intervals")))
    saved(forest([dot for cell in cells for dot in _dots(cell, paper.digits)], xlabel), path)


def _dots(cell: Cell, digits: int) -> Iterator[Dot]:
    """The lines of a cell: the published figure and the measured one, or a line without a figure."""
    if cell.printed is not None:
        text = f"{inline(Number(cell.printed), Column('', digits))} published"
        yield Dot(cell.row, "lexical", *[cell.printed] * 3, text, "", cell.column, hollow=True)
    if cell.measured:
        value, *ends, _ = cell.measured
        ends = [value if end is None else end for end in ends]
        yield Dot(cell.row, "graph", value, *ends, _text(replace(cell, printed=None), digits), "", cell.column)
    elif cell.printed is None:
        yield Dot(cell.row, "graph", 0, None, None, "no figure", "", cell.column, empty=True)
