"""Reciprocal rank fusion of a lexical ranker and the cosine (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from secateur.core.fields import key
from secateur.ranking.group import Asked, Group, Scores
from secateur.ranking.scorers import dense
from secateur.ranking.scorers._lexical import lexical


@dataclass(frozen=True)
class Settings:
    """Which lexical ranker, and how fast a rank loses worth."""

    lexical: dict[str, Any] = key("kind and settings of the lexical ranker")
    k: float = key("a passage at rank r (from 1) is worth 1 / (k + r)", low=0, default=60.0)


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """The sum of what a passage's two ranks are worth; ties to the earlier passage."""
    words = lexical(settings.lexical)(group, asked, seed)
    return _worth(words, settings.k) + _worth(dense.score(dense.Settings(), group, asked, seed), settings.k)


def _worth(scores: Scores, k: float) -> Scores:
    """1 / (k + rank) of each passage."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
    return 1 / (k + ranks)
