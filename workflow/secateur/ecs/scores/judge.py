"""Model as judge of a passage: p(yes), or whether p(yes) > .5 (ECS 3.5 and appendix C)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """The judge's question, and the form of its verdict."""

    asked: Literal["helpful_answer", "factual"] = key(
        "helpful_answer: does the passage help, with the answer shown; factual: is it accurate"
    )
    binary: bool = key("true: 1 if p(yes) > .5, else 0; false: p(yes)")


def score(settings: Settings) -> pl.Expr:
    """A probability, or 0 or 1 if `binary`."""
    p_yes = pl.col(f"judge_{settings.asked}")
    return (p_yes > 0.5).cast(pl.Float64) if settings.binary else p_yes
