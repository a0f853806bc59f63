"""Rows of the table `question_metrics`."""

import polars as pl

__all__ = ["SCHEMA", "long_rows"]

SCHEMA = {
    "question_id": pl.String,
    "order": pl.String,
    "scorer": pl.String,
    "answer_aware": pl.Boolean,
    "metric": pl.String,
    "hop": pl.String,
    "value": pl.Float64,
}


def long_rows(rows: list[tuple], hop: str | None = None) -> pl.DataFrame:
    """The table `question_metrics` from (question_id, order, scorer, answer_aware, metric, value), of one hop."""
    return pl.DataFrame([(*row[:-1], hop, row[-1]) for row in rows], schema=SCHEMA, orient="row")
