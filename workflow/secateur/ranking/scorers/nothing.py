"""No passage at all: what the reader knows already (closed book)."""

from dataclasses import dataclass

import numpy as np

from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False


@dataclass(frozen=True)
class Settings:
    """Nothing to set."""


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Minus infinity: nothing is ranked."""
    return np.full((len(asked.queries), len(group.texts)), -np.inf)
