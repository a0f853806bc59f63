"""Jensen-Shannon divergence between P_{C,u} and P_C at the first answer position."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("js")
