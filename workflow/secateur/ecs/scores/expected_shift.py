"""The signed shift of answers that the model itself samples under the question's best passages, on average."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("expected_shift")
