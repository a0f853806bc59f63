"""Personalised PageRank over entities and passages (HippoRAG 2's scheme).

A walker restarts at the entities of the passages that are linked to the question, its best ones, at those that the question
names, and with a small share at every passage by how well it ranks. From an entity it goes to the passages that mention it
or whose article is about it, from a passage to its entities.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.graph.walkable import NOBODY, Walkable
from secateur.ranking.group import top, z_scores

__all__ = ["Settings", "masses", "walk"]

TOGETHER = 16  # questions whose masses stay in the processor's cache


@dataclass(frozen=True)
class Settings:
    """Where a walker restarts, how often, and how its mass counts."""

    linked: int = key("best passages whose entities a walker restarts at", low=0)
    damping: float = key("probability of a step; else the walker restarts", low=0, high=0.99)
    passages: float = key("restart weight of the best passage beside that of a named entity", low=0)
    sharpness: float = key("restart weight of a passage falls by e for this many of the ranking's z-scores", low=0.01)
    tolerance: float = key("iteration ends when no question's mass moves by more than this", low=1e-15, high=1)
    weight: float = key("weight of the z-score of a passage's log mass, added to the ranking's", low=0)
    longest: int = key("words of a name in a question", low=1)


def walk(
    settings: Settings, graph: Walkable, questions: list[str], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(questions, n) new scores; a mass has no one origin, so that of every passage is -1."""
    links, found = _links(graph), np.empty_like(scores, float)
    for start in range(0, len(questions), TOGETHER):
        own = slice(start, start + TOGETHER)
        restart = _restart(settings, graph, questions[own], scores[own])
        mass = masses(links, restart, settings.damping, settings.tolerance)[:, len(graph.entities) :]
        found[own] = scores[own] + settings.weight * z_scores(np.log(mass + settings.tolerance))
    return found, np.full(scores.shape, NOBODY, np.int64)


def _restart(settings: Settings, graph: Walkable, questions: list[str], scores: NDArray[np.float64]):
    """(questions, entities + passages), rows summing to 1."""
    count = len(graph.entities)
    worth = np.exp((scores - scores.max(1, keepdims=True)) / settings.sharpness)
    found = np.zeros((len(questions), count + scores.shape[1]))
    found[:, count:] = settings.passages * worth
    for row, question in enumerate(questions):
        for passage in top(scores[row], settings.linked):
            own = graph.of_passage[passage]
            found[row, own] = np.maximum(found[row, own], worth[row, passage] * graph.idf[own])
        named = graph.named_in(question, settings.longest)
        found[row, named] = graph.idf[named]
    return found / found.sum(1, keepdims=True)


def masses(links, restart: NDArray[np.float64], damping: float, tolerance: float) -> NDArray[np.float64]:
    """(questions, entities + passages) stationary masses p = (1 - d) restart + d p S, of all questions at once.

    links: sparse (passages, entities) of 0 and 1; S is a step to any neighbour alike, and the mass of a node without one
    restarts. restart: rows sum to 1. Every step leads from one side to the other, so the entities are put into the
    passages' equation, whose matrix I - d^2 T has its eigenvalues in [1 - d^2, 1]: Chebyshev's iteration needs a quarter
    of the products that power iteration needs. The error, summed over nodes, is at most `tolerance`.
    """
    from scipy.sparse import diags

    count = links.shape[1]
    of_passage, of_entity = (diags(1 / np.maximum(np.asarray(links.sum(side)).ravel(), 1)) for side in (1, 0))
    to_entities, to_passages = (links.T @ of_passage).tocsr() * damping, (links @ of_entity).tocsr() * damping
    entities, passages = np.ascontiguousarray(restart[:, :count].T), np.ascontiguousarray(restart[:, count:].T)
    half = damping**2 / 2
    centre, ratio = 1 - half, half / (1 - half)
    mass = passages + to_passages @ entities
    left = to_passages @ (to_entities @ mass)
    change, factor = left / centre, ratio
    while np.abs(left).sum(0).max(initial=0.0) > tolerance / 2:
        mass += change
        left += to_passages @ (to_entities @ change) - change
        after = 2 - ratio * factor
        change *= ratio * factor / after
        change += left * (2 / (centre * after))
        factor = ratio / after
    found = np.concatenate([entities + to_entities @ mass, mass]).T
    return found / found.sum(1, keepdims=True)


def _links(graph: Walkable):
    """The (passages, entities) matrix of mentions."""
    from scipy.sparse import csr_matrix

    passage, entity = graph.pairs
    return csr_matrix((np.ones(len(passage)), (passage, entity)), shape=(len(graph.texts), len(graph.entities)))
