"""Uniform random scores, by seed and question."""

from zlib import crc32

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.ranking.group import Group, Questions, Scores

READS_QUESTION = False


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) uniform draws, which do not depend on other questions."""
    seeds = [[seed, crc32(query.encode())] for query in questions.queries]
    return np.stack([np.random.default_rng(query_seed).random(len(group.texts)) for query_seed in seeds])
