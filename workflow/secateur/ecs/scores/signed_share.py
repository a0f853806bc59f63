"""The signed shift, definition 1 with lambda 0, as a share of the answer's surprise: how much of it the candidate explains."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """1 where the candidate makes the answer certain, 0 where it changes nothing, below where it misleads; null where the
    answer is certain without it."""
    surprise = -pl.col("base_answer_logprob")
    return pl.when(surprise > 0).then(1 + pl.col("answer_logprob") / surprise)
