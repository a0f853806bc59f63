"""Published figures, as rows of the table `metrics`."""

from collections.abc import Collection, Iterator
from pathlib import Path

import polars as pl
import yaml

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES

__all__ = ["published", "published_statistics"]

KEYS = {"dataset", "system", "answer_aware", "subset", "metric", "value", "n", "split"}
STATISTIC_KEYS = {"datasets", "statistic", "stated"}


def published(path: Path, datasets: Collection[str]) -> pl.DataFrame:
    """Published rows of some data sets, without intervals, as none were published.

    Raises SecateurError for a row with missing or unknown keys.
    """
    rows = [row | {"value": float(row["value"]), "published": True} for _, row in _rows(path, "rows", KEYS)]
    schema = TABLES["metrics"].empty().schema
    frame = pl.DataFrame(rows, schema_overrides={"n": pl.Int32}).filter(pl.col("dataset").is_in(list(datasets)))
    return frame.with_columns(pl.lit(None, schema[c]).alias(c) for c in schema if c not in frame.columns).select(
        list(schema)
    )


def published_statistics(path: Path, datasets: Collection[str]) -> pl.DataFrame:
    """(dataset, statistic, stated as printed, source): published sizes of some data sets.

    Raises SecateurError for a row with missing or unknown keys.
    """
    rows = [
        {"dataset": name, "statistic": row["statistic"], "stated": row["stated"], "source": publication["source"]}
        for publication, row in _rows(path, "statistics", STATISTIC_KEYS)
        for name in row["datasets"]
        if name in datasets
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("dataset", "statistic", "stated", "source"), pl.String))


def _rows(path: Path, part: str, keys: set[str]) -> Iterator[tuple[dict, dict]]:
    """Yield (publication, row) of a part of the file, with checked keys."""
    for name, publication in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for n, row in enumerate(publication.get(part, [])):
            if set(row) != keys:
                differing = ", ".join(sorted(set(row) ^ keys))
                raise SecateurError(
                    f"{path}: {name}, {part} {n}: keys missing or unknown: {differing}. Fix: {sorted(keys)}"
                )
            yield publication, row
