"""Utility of a context at a price for tokens: evidence recall - price x tokens / 512.

It is linear in two metrics that every context has. So it is computed where rows are compared, and no context is measured again.
"""

from collections.abc import Sequence

import polars as pl

from secateur.contexts.price import UNIT

__all__ = ["NAME", "utilities"]

NAME = "utility"  # of the metrics, NAME@PRICE


def utilities(figures: pl.DataFrame, budget: int, prices: Sequence[float]) -> pl.DataFrame:
    """Rows utility@PRICE of each question whose evidence recall and tokens were measured at the row's own budget."""
    row = [column for column in figures.columns if column not in ("metric", "value")]
    whole = figures.filter(pl.col("hop").is_null())
    tokens = whole.filter(metric=f"tokens@{budget}").select(*row, tokens="value")
    joined = whole.filter(metric=f"evidence_recall@{budget}").join(tokens, on=row, nulls_equal=True)
    tables = [
        joined.with_columns(metric=pl.lit(f"{NAME}@{price}"), value=pl.col("value") - price * pl.col("tokens") / UNIT)
        for price in prices
    ]
    return pl.concat([figures.clear(), *(table.select(figures.columns) for table in tables)])
