"""The model asked outright: p(yes), or whether it is above a half (ECS 3.5 and appendix C)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """What it is asked, and in which form its verdict counts."""

    asked: Literal["helpful_answer", "factual"] = key(
        "whether the passage helps, the answer shown; whether it is accurate"
    )
    binary: bool = key("1 where p(yes) is above .5, else 0")


def score(settings: Settings) -> pl.Expr:
    """A probability, or 0 and 1."""
    said = pl.col(f"judge_{settings.asked}")
    return (said > 0.5).cast(pl.Float64) if settings.binary else said
