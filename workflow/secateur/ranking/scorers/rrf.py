"""Reciprocal rank fusion of a lexical ranker and the cosine (Cormack, Clarke and Büttcher, SIGIR 2009)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from secateur.core.fields import key
from secateur.ranking.group import Group, Questions, Scores, scores_of
from secateur.ranking.scorers import dense


@dataclass(frozen=True)
class Settings:
    """The lexical ranker, and the constant of the fusion."""

    lexical: dict[str, Any] = key("plug-in (kind) and settings of the lexical ranker")
    k: float = key("a passage at rank r (from 1) scores 1 / (k + r)", low=0, default=60.0)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Sum of 1 / (k + rank) over both rankings; ties within one go to the earlier passage."""
    words = scores_of(settings.lexical, "lexical", group, questions, seed)
    return _reciprocal_ranks(words, settings.k) + _reciprocal_ranks(
        dense.score(dense.Settings(), group, questions, seed), settings.k
    )


def _reciprocal_ranks(scores: Scores, k: float) -> Scores:
    """1 / (k + rank) of each passage; 0 for one that is left out."""
    order = np.argsort(-scores, axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, scores.shape[1] + 1)[None], axis=1)
    return np.where(np.isneginf(scores), 0.0, 1 / (k + ranks))
