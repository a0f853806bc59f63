"""KL at the first answer position with the sign of the signed shift (ECS 3.1, the "direction problem")."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return (pl.col("answer_logprob") - pl.col("base_answer_logprob")).sign() * pl.col("kl")
