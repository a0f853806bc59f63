"""Uniform random scores, by seed."""

from dataclasses import dataclass

import numpy as np

from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False


@dataclass(frozen=True)
class Settings:
    """Nothing to set."""


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """(questions, passages) draws."""
    return np.random.default_rng(seed).random((len(asked.queries), len(group.texts)))
