"""Maximal marginal relevance: a ranking whose best passages are reordered so that each adds something new.

Carbonell and Goldstein, SIGIR 1998. Relevance is the score of a ranker, scaled to 0..1 over the passages that are reordered;
similarity is the cosine of two passages.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.ranking.group import EPS, Group, Questions, Scores, scores_of, top


@dataclass(frozen=True)
class Settings:
    """The ranker, how many of its passages are reordered, and the share of relevance."""

    of: dict[str, Any] = key("plug-in (kind) and settings of the ranker that is reordered")
    relevance: float = key("share of relevance; the rest is the weight of similarity", low=0, high=1)
    pool: int = key("best passages that are reordered; the others follow as they were", low=1)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """The marginal relevance with which a passage was chosen; passages outside the pool lie below it, in their order."""
    scores = scores_of(settings.of, "of", group, questions, seed)
    return np.stack([_reordered(row, group.vectors, settings) for row in scores])


def _reordered(scores: NDArray[np.float64], vectors: NDArray[np.float32], settings: Settings) -> NDArray[np.float64]:
    """(n,) scores of one question. A chosen passage never scores above the one before, since similarities only grow."""
    pool = top(scores, settings.pool)
    pool = pool[np.isfinite(scores[pool])]
    if not len(pool):
        return scores
    spread = np.ptp(scores[pool])
    relevance = (scores - scores[pool].min()) / (spread + EPS)
    pooled = np.ascontiguousarray(vectors[pool])
    cosines = (pooled @ pooled.T).astype(float)
    nearest, open_, marginal = np.zeros(len(pool)), np.ones(len(pool), bool), np.zeros(len(pool))
    share = settings.relevance
    for _ in pool:
        values = np.where(open_, share * relevance[pool] - (1 - share) * nearest, -np.inf)
        best = int(values.argmax())
        marginal[best], open_[best] = values[best], False
        nearest = np.maximum(nearest, cosines[best])
    reordered = marginal.min() - 1 + relevance - relevance.max()
    reordered[pool] = marginal
    return reordered
