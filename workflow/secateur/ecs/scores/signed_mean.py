"""Signed shift per answer token (ECS, definition 1 with lambda 0)."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats per token."""
    return (pl.col("answer_logprob") - pl.col("base_answer_logprob")) / pl.col("answer_tokens")
