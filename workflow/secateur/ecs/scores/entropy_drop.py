"""Drop in entropy at the first answer position: H(P_C) - H(P_{C,u})."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("base_entropy") - pl.col("entropy")
