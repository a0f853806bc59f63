"""KL summed along an answer, at most `ecs.horizon` steps (ECS, definition 2, equation 4)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """The answer along which KL is summed."""

    along: Literal["gold", "ctx", "base"] = key(
        "gold: the gold answer; ctx: the greedy answer with the candidate; base: the greedy answer without it"
    )


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col("kl_path").list.sum() if settings.along == "gold" else pl.col(f"trajectory_{settings.along}")
