"""Signed shift as a share of the answer's surprise -log P_C(a) (ECS, definition 1 with lambda 0)."""

import polars as pl

from secateur.config.plugins import NoSettings as Settings

__all__ = ["Settings", "score"]


def score(settings: Settings) -> pl.Expr:
    """1: the candidate makes the answer certain; 0: no change; negative: it misleads.

    Null if the answer is certain without it.
    """
    surprise = -pl.col("base_answer_logprob")
    return pl.when(surprise > 0).then(1 + pl.col("answer_logprob") / surprise)
