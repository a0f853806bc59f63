"""KL(P_{C,u} || P_C) at the first answer position, over the `ecs.top_k` most probable tokens (ECS 3.2)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """Treatment of the tokens outside the top k."""

    rest: Literal["tail", "paper"] = key(
        "tail: one bucket for all other tokens; paper: probability `ecs.epsilon` for each"
    )


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col(f"kl_{settings.rest}")
