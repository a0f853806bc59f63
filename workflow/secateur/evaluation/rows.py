"""Figures of questions as rows."""

import polars as pl

__all__ = ["SCHEMA", "long_rows", "order_of"]

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
    """(question_id, order, scorer, answer_aware, metric, value) rows as the table `question_metrics`, of one hop."""
    return pl.DataFrame([(*row[:-1], hop, row[-1]) for row in rows], schema=SCHEMA, orient="row")


def order_of(scorer: str) -> str:
    """What a scorer of sentences may know of the order of the text: `aware` where it looks at neighbours."""
    return "aware" if "+neighbour" in scorer else "blind"
