"""Beam search over passages that share an entity which the question does not name.

The best passages of the ranking are the states. A step leads to a passage of another article that shares an entity with
the state. It is worth the entity's idf (a penalty on hubs), more for an article about the entity, plus the BM25 of the
question's words that the state lacks. A passage gains the worth of the best step that leads to it.

The anchor weighs a path by the rarest name of the question in its first passage, and is 0 if there is none. A question
without names keeps its ranking.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.models.units import word_list
from secateur.ranking.group import top
from secateur.ranking.passage_graph import NO_PLACE, PassageGraph

__all__ = ["Settings", "walk"]


@dataclass(frozen=True)
class Settings:
    """Width and depth of the search, and the worth of a step."""

    width: int = key("states per step", low=1)
    depth: int = key("steps of a path", low=0)
    step: float = key("worth of a step over an entity of idf 1, in the ranking's z-scores", low=0)
    mention: float = key("worth of a step to a mention, as a share of a step to an article about the entity", low=0)
    rest: float = key("worth of the question's remaining words, in standard deviations of BM25", low=0)
    decay: float = key("a state of the k-th best article (from 0) has weight (1 + k) ** -decay", low=0)
    fade: float = key("worth of each further step, as a share of the step before", low=0, high=1)
    anchor: float = key(
        "a path has weight (i - anchor) / (1 - anchor), i: idf of the rarest name of the question in its first passage",
        low=0,
        high=0.99,
    )
    named: float = key("gain of passages of an article that the question names, times its idf", low=0)
    longest: int = key("most words of a name in a question", low=1)


def walk(
    settings: Settings, graph: PassageGraph, questions: list[str], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(questions, n) new scores, and the passage from which each passage was reached, or -1."""
    reranked, origins = scores.astype(float).copy(), np.full(scores.shape, NO_PLACE, np.int64)
    for row, question in enumerate(questions):
        reranked[row], origins[row] = _search(settings, graph, question, reranked[row])
    return reranked, origins


def _search(settings: Settings, graph: PassageGraph, question: str, scores: NDArray[np.float64]):
    """(n,) new scores and origins for one question."""
    start = scores + settings.named * graph.topic_idf(graph.named_entities(question, settings.longest))
    named = graph.occurring_entities(question, settings.longest)
    words, gains = _word_gains(graph, question) if settings.rest else ((), None)
    best, origins, current = np.zeros(len(start)), np.full(len(start), NO_PLACE, np.int64), start
    anchors = np.zeros(len(start))  # weight of the path to each passage
    for depth in range(settings.depth):
        worth = np.zeros(len(start))
        states = top(current, settings.width)
        articles = list(dict.fromkeys(graph.docs[states].tolist()))
        if depth == 0:
            anchors[states] = [_anchor(graph, named, state, settings.anchor) for state in states]
        weights = anchors.copy()  # passages reached in this step count from the next
        for state in states[(weights[states] > 0) & ((origins[states] != NO_PLACE) | (depth == 0))]:
            weight = weights[state] * settings.fade**depth * (1 + articles.index(graph.docs[state])) ** -settings.decay
            missing = [n for n, word in enumerate(words) if word not in graph.words[state]]
            for entity in np.setdiff1d(graph.passage_entities[state], named, assume_unique=True):
                reached = graph.entity_passages[entity]
                reached = reached[graph.docs[reached] != graph.docs[state]]
                link = np.where(graph.about[reached] == entity, 1.0, settings.mention) * graph.idf[entity]
                step = weight * (link + settings.rest * _summed(gains, missing, reached) if missing else link)
                better = step > np.maximum(worth[reached], best[reached])
                worth[reached[better]] = step[better]
                origins[reached[better]], anchors[reached[better]] = state, weights[state]
        best = np.maximum(best, worth)
        current = start + settings.step * best
    return current, origins


def _summed(gains: NDArray[np.float64], words: list[int], passages: NDArray[np.int64]) -> NDArray[np.float64]:
    """Summed gains of some words for some passages; a sum over all passages would cost more than the walk."""
    total = np.zeros(len(passages))
    for word in words:
        total += gains[word, passages]
    return total


def _anchor(graph: PassageGraph, named: NDArray[np.int64], state: int, anchor: float) -> float:
    """Weight of a path that begins in a passage, by the rarest named entity that the passage mentions."""
    mentioned = np.intersect1d(graph.passage_entities[state], named, assume_unique=True)
    return max(0.0, (float(graph.idf[mentioned].max(initial=0.0)) - anchor) / (1 - anchor))


def _word_gains(graph: PassageGraph, question: str) -> tuple[list[str], NDArray[np.float64]]:
    """The question's words, and their (words, n) BM25 in standard deviations of the whole question's."""
    vocabulary, bm25 = graph.terms
    words = [word for word in dict.fromkeys(word_list(question)) if word in vocabulary]
    gains = bm25[[vocabulary[word] for word in words]].toarray() if words else np.zeros((0, len(graph.texts)))
    return words, gains / max(float(gains.sum(0).std()), 1e-9)
