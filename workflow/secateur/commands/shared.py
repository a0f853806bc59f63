"""What commands share: the paths of results, and tables as text."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config import files
from secateur.config.limits import not_run, unlimited
from secateur.core.errors import SecateurError, one_of
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.core.workspace import NAME, as_given, enter, is_root, own_code
from secateur.report.table import Column, Row, Table, csv, latex, markdown, plain

__all__ = [
    "EXPERIMENTS",
    "FORMATS",
    "aligned",
    "at_root",
    "at_work",
    "current",
    "experiment_named",
    "table_of",
    "written",
]

EXPERIMENTS = Path("results/experiments")
FORMATS = ("text", "json", "csv", "md", "latex")
Rows = Sequence[Mapping[str, Any]]


def experiment_named(name: str) -> str:
    """Returns the name; raises SecateurError with the nearest one if there is no such experiment."""
    experiments = files.options(Path("conf"), "experiment")
    whole, _ = unlimited(name)
    if experiments:
        one_of("experiment", whole, experiments)
    return name


def at_root() -> None:
    """Raises SecateurError outside a clone and a workspace, where commands find no options and no rules."""
    if not is_root(Path()):
        raise SecateurError(
            f"{Path.cwd()}: neither a clone nor a workspace of Secateur. Fix: secateur evaluate FOLDER, or secateur new "
            "workspace, which make one"
        )


def at_work(folder: Path, workspace: Path | None = None) -> Path:
    """Changes into the workspace for a folder: the one that is named or found, else a new one here; beside the folder from within it.

    Returns the folder's path from there.
    """
    folder = as_given(folder)
    if not folder.is_dir():  # before a workspace is made beside it
        raise SecateurError(f"{folder}: no such folder. Fix: correct the path (docs/data.md)")
    if workspace is not None or not is_root(Path()):
        inside = Path.cwd() == folder.resolve() or folder.resolve() in Path.cwd().parents
        enter(workspace or Path(folder.resolve().parent if inside else "") / NAME)
    own_code()
    return as_given(folder)


def current(experiment: str) -> None:
    """Print a note where other code has made an experiment's figures. Raises SecateurError for figures of other settings."""
    from secateur.planning.asked import check_current

    at_root()
    if not (EXPERIMENTS / experiment_named(experiment) / "run.json").exists():
        raise not_run(experiment)
    if Path("workflow/rules").is_dir() and (note := check_current(experiment)):
        print(note, file=sys.stderr)


def table_of(experiment: str, name: str) -> pl.DataFrame:
    """A table of an experiment. Raises SecateurError with the command to run if it has not run."""
    path = EXPERIMENTS / experiment_named(experiment) / f"{name}.parquet"
    if not path.exists():
        raise not_run(experiment)
    return read_table(TABLES[name], path)


def aligned(rows: Rows) -> str:
    """Rows as a plain table."""
    return plain(_table(rows))


def _table(rows: Rows) -> Table:
    heads = list(rows[0]) if rows else []
    words = {head for head in heads if any(isinstance(row[head], str) for row in rows)}
    columns = [Column(head, 4, align="left" if head in words else "right") for head in heads]
    return Table(columns, [Row(tuple(row[head] for head in heads)) for row in rows])


def written(rows: Rows, form: str) -> str:
    """Rows as text, JSON, CSV, Markdown or LaTeX (booktabs)."""
    if form == "json":
        return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"
    return {"text": plain, "csv": csv, "md": markdown, "latex": latex}[form if rows else "text"](_table(rows))
