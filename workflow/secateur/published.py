"""Figures taken from publications, as rows of the `metrics` table."""

from collections.abc import Collection
from pathlib import Path

import polars as pl
import yaml

from secateur.errors import SecateurError
from secateur.tables import TABLES

__all__ = ["published"]

KEYS = {"dataset", "system", "answer_aware", "subset", "metric", "value", "n", "split"}


def published(path: Path, datasets: Collection[str]) -> pl.DataFrame:
    """The published rows that speak of these data sets; without intervals, since none were published.

    Raises SecateurError for a row with missing or unknown keys.
    """
    rows = []
    for name, publication in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for n, row in enumerate(publication["rows"]):
            if set(row) != KEYS:
                wrong = ", ".join(sorted(set(row) ^ KEYS))
                raise SecateurError(f"{path}: {name}, row {n}: keys missing or unknown: {wrong}. Fix: {sorted(KEYS)}")
            rows.append(row | {"value": float(row["value"]), "published": True})
    schema = TABLES["metrics"].empty().schema
    frame = pl.DataFrame(rows, schema_overrides={"n": pl.Int32}).filter(pl.col("dataset").is_in(list(datasets)))
    return frame.with_columns(pl.lit(None, schema[c]).alias(c) for c in schema if c not in frame.columns).select(
        list(schema)
    )
