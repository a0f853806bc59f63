"""The share of the answer's surprise that the candidate explains, less that of the likeliest wrong answer it offers."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.ecs.scores import signed_share

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Above 0 where the candidate speaks for the answer more than for any other of its words."""
    return signed_share.score(settings) - pl.col("rival_share")
