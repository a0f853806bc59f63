"""`signed_share` of the answer minus that of the likeliest rival, a wrong answer from the candidate's words."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.ecs.scores import signed_share

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Positive if the candidate supports the answer more than any rival."""
    return signed_share.score(settings) - pl.col("rival_share")
