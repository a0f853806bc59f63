"""H(P_C) - H(P_{C,u}) at the first answer position."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("base_entropy") - pl.col("entropy")
