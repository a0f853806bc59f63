"""Keeps the figures of a finished experiment in `docs/results`, with the values by question behind them."""

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from secateur.config.limits import command
from secateur.core.artifacts import file_digest, read_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.compared import Measured, labelled, measured
from secateur.report.compare import compared
from secateur.report.kept import COMPARED, DIGITS, P_DIGITS, by_question, quotable, write_kept

__all__ = ["keep"]


def keep(results: Path, docs: Path, name: str) -> Path:
    """Writes docs/results/NAME from the tables of a finished experiment.

    Raises SecateurError if it has not finished, or another run has written what it compared since.
    """
    home = results / "experiments" / name
    if not (home / "run.json").exists():
        raise SecateurError(f"{home}: not there. Fix: {command(name)}")
    tables = {table: read_table(TABLES[table], home / f"{table}.parquet") for table in (*COMPARED, "equal_quality")}
    rows = quotable(*(tables[table] for table in COMPARED))
    if tables["equal_quality"].height:
        rows["equal_quality"] = tables["equal_quality"]
    else:
        (docs / "results" / name / "equal_quality.parquet").unlink(missing_ok=True)  # of an earlier run
    record = read_json(home / "run.json")
    source = {key: record[key] or "unknown" for key in ("commit", "finished")} | {
        "record": file_digest(home / "run.json")
    }
    source |= {"command": command(name, record.get("overrides", ()))}
    for table, frame in rows.items():
        digits = [
            pl.col(c).round(P_DIGITS if c in ("p", "p_holm") else DIGITS)
            for c in frame.columns
            if frame[c].dtype == pl.Float64
        ]
        digest = {"digest": file_digest(home / f"{table}.parquet")}
        write_kept(frame.with_columns(digits), docs, name, table, source | digest)
    values, settings = by_question(_sets(results.parent, name, record), record["config"])
    for table, frame in values.items():
        write_kept(frame, docs, name, table, source | settings)
    return docs / "results" / name


def _sets(root: Path, name: str, record: Mapping[str, Any]) -> list[Measured]:
    """What the experiment measured on each data set, from the files that it compared."""
    config, inputs = record["config"], record["inputs"]
    cfg = SimpleNamespace(**{k.removeprefix("eval."): v for k, v in config.items() if k.startswith("eval.")})
    variants = config["extra.variants"]
    figures = {file: compared(root, name, "question_metrics", file) for file in {v["file"] for v in variants}}
    sets, whole = [], labelled(variants, figures, config["extra.prices"], cfg)
    for spec in config["extra.datasets"]:
        (folder,) = (Path(p).parent for p in inputs if p.endswith(f"/{spec['name']}/questions/questions.parquet"))
        about = (compared(root, name, table, f"{folder}/{table}.parquet") for table in ("questions", "evidence"))
        sets.append(measured(spec, variants, whole, *about, cfg))
    return sets
