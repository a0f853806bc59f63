"""No passage: the closed book, in which the reader answers from its own knowledge."""

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Group, Questions, Scores

READS_QUESTION = False


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Minus infinity: no passage is ranked."""
    return np.full((len(questions.queries), len(group.texts)), -np.inf)
