"""The divergence summed along an answer, `ecs.horizon` steps at most (definition 2, equation 4)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """Along which answer."""

    along: Literal["gold", "ctx", "base"] = key("the gold one, the greedy one under the candidate, or that without it")


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("kl_path").list.sum() if settings.along == "gold" else pl.col(f"trajectory_{settings.along}")
