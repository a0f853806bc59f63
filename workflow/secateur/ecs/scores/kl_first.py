"""KL(P_{C,u} || P_C) at the first answer position, over the whole vocabulary (ECS 3.2)."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("kl")
