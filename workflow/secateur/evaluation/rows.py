"""Figures of questions as rows."""

import polars as pl

__all__ = ["long_rows"]


def long_rows(rows: list[tuple], track: str | None) -> pl.DataFrame:
    """(question_id, scorer, answer_aware, metric, value) rows as the `question_metrics` table."""
    schema = {
        "question_id": pl.String,
        "scorer": pl.String,
        "answer_aware": pl.Boolean,
        "metric": pl.String,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(track=pl.lit(track, pl.String))
