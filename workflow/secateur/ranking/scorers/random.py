"""Uniform random scores, by seed."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Group, Questions, Scores

READS_QUESTION = False


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) uniform draws."""
    return np.random.default_rng(seed).random((len(questions.queries), len(group.texts)))
