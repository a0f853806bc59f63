"""Kept figures: small tables of finished experiments in `docs/results`, which pages and paper tables quote.

`docs/results/EXPERIMENT/metrics.parquet` and `comparisons.parquet` hold the rows that a page may quote, rounded to four
digits, `equal_quality.parquet` the tokens at equal quality. Their Parquet metadata name the command with its overrides, the
commit and the digests of the tables they were taken from.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from secateur.config.limits import command
from secateur.core.artifacts import atomic, file_digest, read_json
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.evaluation.comparison import PRIMARY
from secateur.evaluation.figure import figure_of

__all__ = ["COMPARED", "SUBSETS", "keep", "kept_experiments", "kept_source", "kept_table", "write_kept"]

COMPARED = ("metrics", "comparisons")  # the tables that pages quote
SUBSETS = ("all", "cat1-4", "named", "bridge", "first", "later")  # of comparisons; metrics keep every subset
DIGITS = 4


def keep(results: Path, docs: Path, name: str) -> Path:
    """Writes docs/results/NAME from the tables of a finished experiment. Raises SecateurError if it has not finished."""
    home = results / "experiments" / name
    if not (home / "run.json").exists():
        raise SecateurError(f"{home}: not there. Fix: {command(name)}")
    metrics = read_table(TABLES["metrics"], home / "metrics.parquet")
    comparisons = read_table(TABLES["comparisons"], home / "comparisons.parquet")
    quoted, shown = ([name for name in table["metric"].unique() if _is_kept(name)] for table in (metrics, comparisons))
    paired = pl.col("metric").is_in(shown) | (pl.col("axis") == PRIMARY)
    equal = read_table(TABLES["equal_quality"], home / "equal_quality.parquet")
    rows = {
        "metrics": metrics.filter(pl.col("metric").is_in(quoted), ~pl.col("published")),
        "comparisons": comparisons.filter(paired, pl.col("subset").is_in(SUBSETS), pl.col("axis") != "named"),
    }
    if equal.height:
        rows["equal_quality"] = equal
    else:
        _path(docs, name, "equal_quality").unlink(missing_ok=True)  # of an earlier run
    record = read_json(home / "run.json")
    source = {key: record[key] or "unknown" for key in ("commit", "finished")} | {
        "record": file_digest(home / "run.json")
    }
    source |= {"command": command(name, record.get("overrides", ()))}
    for table, frame in rows.items():
        digest = {"digest": file_digest(home / f"{table}.parquet")}
        write_kept(frame.with_columns(pl.col(pl.Float64).round(DIGITS)), docs, name, table, source | digest)
    return docs / "results" / name


def _is_kept(metric: str) -> bool:
    """Whether pages may quote a figure: not at each of several budgets, and of those of a policy, by whoever measured it."""
    base, _, at = metric.partition("@")
    figure = figure_of(base.partition(":")[0])
    return (figure.headline or figure.kept) and (not at.isdigit() or bool(figure.cutoff))


def write_kept(frame: pl.DataFrame, docs: Path, name: str, table: str, source: Mapping[str, str]) -> None:
    """Writes one kept table with its source in the metadata."""
    with atomic(_path(docs, name, table)) as temporary:
        frame.write_parquet(temporary, compression="zstd", compression_level=19, metadata=dict(source))


def kept_experiments(docs: Path) -> list[str]:
    """Names of the experiments whose figures are kept."""
    return sorted(path.parent.name for path in docs.glob("results/*/metrics.parquet"))


def kept_table(docs: Path, name: str, table: str) -> pl.DataFrame:
    """Kept rows of `metrics` or `comparisons`; no rows for an experiment that is not kept."""
    path, empty = _path(docs, name, table), TABLES[table].empty()
    return pl.read_parquet(path).select(empty.columns).cast(dict(empty.schema)) if path.exists() else empty


def kept_source(docs: Path, name: str) -> dict[str, str]:
    """Command, commit, time and digest behind the kept metrics. Raises SecateurError for an experiment that is not kept."""
    path = _path(docs, name, "metrics")
    if not path.exists():
        raise SecateurError(f"{path}: not there. Fix: secateur keep {name}")
    return {key: value for key, value in pl.read_parquet_metadata(path).items() if key != "ARROW:schema"}


def _path(docs: Path, name: str, table: str) -> Path:
    return docs / "results" / name / f"{table}.parquet"
