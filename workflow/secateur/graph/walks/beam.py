"""Paths of passages that share an entity which the question does not name, each step scored against what is left of the
question.

The best passages of the ranking are the states. A step goes from a state to the passages of another article that share an
entity with it; it is worth the entity's idf (a hub leads everywhere), more where the article is about that entity, and
the BM25 of the question's words that the state does not have. What a path ends in gains what its best step is worth.

A path begins where the question begins: its steps count the more, the rarer a name of the question is that its first
passage mentions, and nothing where it mentions none. A question that names nothing is answered where it is matched.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.graph.walkable import NOBODY, Walkable
from secateur.models.words import word_list
from secateur.ranking.group import top

__all__ = ["Settings", "walk"]


@dataclass(frozen=True)
class Settings:
    """How wide, how far, and what a step is worth."""

    width: int = key("states that a step starts from", low=1)
    depth: int = key("steps of a path", low=0)
    step: float = key("worth of a step over an entity of idf 1, in the ranking's z-scores", low=0)
    mention: float = key(
        "a step to a passage that mentions the entity, as a share of one to an article about it", low=0
    )
    rest: float = key("worth of the question's words that are left, in standard deviations of BM25", low=0)
    decay: float = key("a state of the article at place k (from 0) is worth (1 + k) ** -decay", low=0)
    fade: float = key("worth of each further step, as a share of the one before it", low=0, high=1)
    anchor: float = key(
        "a path counts (i - anchor) / (1 - anchor), i being the idf of the rarest name of the question in its first passage",
        low=0,
        high=0.99,
    )
    named: float = key("what the passages of an article that the question names gain, times its idf", low=0)
    longest: int = key("words of a name in a question", low=1)


def walk(
    settings: Settings, graph: Walkable, questions: list[str], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(questions, n) new scores, and the passage from which each passage was reached; -1 where no step led to it."""
    found, came = scores.astype(float).copy(), np.full(scores.shape, NOBODY, np.int64)
    for row, question in enumerate(questions):
        found[row], came[row] = _one(settings, graph, question, found[row])
    return found, came


def _one(settings: Settings, graph: Walkable, question: str, scores: NDArray[np.float64]):
    """The scores and the origins of one question."""
    start = scores + settings.named * _of_named(graph, graph.named_in(question, settings.longest))
    known = graph.said_in(question, settings.longest)
    asked, gains = _question(graph, question) if settings.rest else ((), None)
    best, came, current = np.zeros(len(start)), np.full(len(start), NOBODY, np.int64), start
    firm = np.zeros(len(start))  # what a path that leads here counts, by where it began
    for depth in range(settings.depth):
        worth = np.zeros(len(start))
        states = top(current, settings.width)
        articles = list(dict.fromkeys(graph.docs[states].tolist()))
        if depth == 0:
            firm[states] = [_anchored(graph, known, state, settings.anchor) for state in states]
        counts = firm.copy()  # what is reached within this step counts in the next
        for state in states[(counts[states] > 0) & ((came[states] != NOBODY) | (depth == 0))]:
            value = counts[state] * settings.fade**depth * (1 + articles.index(graph.docs[state])) ** -settings.decay
            left = [n for n, word in enumerate(asked) if word not in graph.words[state]]
            for entity in np.setdiff1d(graph.of_passage[state], known, assume_unique=True):
                reached = graph.of_entity[entity]
                reached = reached[graph.docs[reached] != graph.docs[state]]
                link = np.where(graph.about[reached] == entity, 1.0, settings.mention) * graph.idf[entity]
                own = value * (link + settings.rest * _total(gains, left, reached) if left else link)
                better = own > np.maximum(worth[reached], best[reached])
                worth[reached[better]] = own[better]
                came[reached[better]], firm[reached[better]] = state, counts[state]
        best = np.maximum(best, worth)
        current = start + settings.step * best
    return current, came


def _total(gains: NDArray[np.float64], words: list[int], passages: NDArray[np.int64]) -> NDArray[np.float64]:
    """What some words give some passages, summed word by word: for a few passages, where a sum over all would cost more
    than the walk."""
    found = np.zeros(len(passages))
    for word in words:
        found += gains[word, passages]
    return found


def _anchored(graph: Walkable, known: NDArray[np.int64], state: int, anchor: float) -> float:
    """What a path that begins in a passage counts: by the rarest of some names that it mentions."""
    held = np.intersect1d(graph.of_passage[state], known, assume_unique=True)
    return max(0.0, (float(graph.idf[held].max(initial=0.0)) - anchor) / (1 - anchor))


def _of_named(graph: Walkable, named: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) idf of what each passage's article is about, where the question names it."""
    known = np.isin(graph.about, named)
    return np.where(known, graph.idf[graph.about], 0.0) if len(graph.idf) else np.zeros(len(graph.about))


def _question(graph: Walkable, question: str) -> tuple[list[str], NDArray[np.float64]]:
    """The question's words, and what each gives each passage, in standard deviations of the whole: (words, n)."""
    vocabulary, parts = graph.terms
    words = [word for word in dict.fromkeys(word_list(question)) if word in vocabulary]
    gains = parts[[vocabulary[word] for word in words]].toarray() if words else np.zeros((0, len(graph.texts)))
    return words, gains / max(float(gains.sum(0).std()), 1e-9)
