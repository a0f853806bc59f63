"""Sentence-window retrieval: each hit of a ranker brings its neighbours in the document, the nearest first.

LlamaIndex's `SentenceWindowNodeRetriever` sends the window of each hit. Here the window's passages follow their hit in the
ranking, so that every budget is filled by the same packer. Such a ranking is order-aware: its name ends in `+window`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.ranking.group import Group, Questions, Scores, scores_of

ORDER_AWARE = True


@dataclass(frozen=True)
class Settings:
    """The ranker, and the width of the window."""

    of: dict[str, Any] = key("plug-in (kind) and settings of the ranker whose hits bring their neighbours")
    size: int = key("passages on each side of a hit that follow it", low=1)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Minus the place of a passage where hits are visited best first, and each is followed by what is new of its window."""
    scores = scores_of(settings.of, "of", group, questions, seed)
    return np.stack([_with_windows(row, group.docs, settings.size) for row in scores])


def _with_windows(scores: NDArray[np.float64], docs: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """(n,) scores of one question. A passage belongs to the best hit within reach; of one hit the nearer comes first."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    offsets = sorted(range(-size, size + 1), key=lambda step: (abs(step), step))
    places = ranks * len(offsets)
    for nearness, step in enumerate(offsets[1:], 1):
        hit, beside = (slice(-step, None), slice(None, step)) if step < 0 else (slice(None, -step), slice(step, None))
        reached = np.where(docs[hit] == docs[beside], ranks[hit] * len(offsets) + nearness, places[beside])
        places[beside] = np.minimum(places[beside], reached)
    return -places.astype(float)
