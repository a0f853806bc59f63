"""The part of pmi_q that is of the question's content words which the passage lacks: what no ranking by words sees."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats; 0 where the passage holds all of the question's words."""
    return pl.col("question_new")
