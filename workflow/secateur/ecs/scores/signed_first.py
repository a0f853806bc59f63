"""Signed shift of the answer's first token (ECS, definition 1 with lambda 0)."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("answer_first") - pl.col("base_answer_first")
