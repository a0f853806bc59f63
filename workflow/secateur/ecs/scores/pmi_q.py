"""Query likelihood as pointwise mutual information of question and candidate: log p(q | C,u) - log p(q | C)."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("question_logprob") - pl.col("base_question_logprob")
