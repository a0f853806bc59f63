"""Uniform random scores, by seed."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """(questions, passages) draws."""
    return np.random.default_rng(seed).random((len(asked.queries), len(group.texts)))
