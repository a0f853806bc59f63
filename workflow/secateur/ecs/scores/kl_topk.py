"""KL(P_{C,u} || P_C) at the first answer position from the `ecs.top_k` most probable tokens (ECS 3.2)."""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from secateur.core.fields import key

__all__ = ["Settings", "score"]


@dataclass(frozen=True)
class Settings:
    """What stands for the rest of the vocabulary."""

    rest: Literal["tail", "paper"] = key("all other tokens in one bucket, or the paper's fill of `ecs.epsilon`")


def score(settings: Settings) -> pl.Expr:
    """Nats."""
    return pl.col(f"kl_{settings.rest}")
