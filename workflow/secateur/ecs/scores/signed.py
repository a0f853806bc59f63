"""Signed shift of the whole answer: log P_{C,u}(a) - log P_C(a) - lambda |u| (ECS, definition 1, equation 2)."""

from dataclasses import dataclass

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """The length penalty."""

    length_penalty: float = key("lambda, in nats per token of the candidate's text", low=0, default=0.0)


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    shift = pl.col("answer_logprob") - pl.col("base_answer_logprob")
    return shift - settings.length_penalty * pl.col("tokens")
