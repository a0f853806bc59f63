"""No passage at all: what the reader knows already (closed book)."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """Minus infinity: nothing is ranked."""
    return np.full((len(asked.queries), len(group.texts)), -np.inf)
