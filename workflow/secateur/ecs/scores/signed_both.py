"""The smaller of `signed_share` and `signed_contrast`: one threshold asks that a passage helps, and helps the answer most."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.ecs.scores import signed_share

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """`signed_share` minus the rival's share where that is above 0; null without an answer or a reading of rivals."""
    return signed_share.score(settings) - pl.col("rival_share").clip(lower_bound=0)
