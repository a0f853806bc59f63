"""Personalised PageRank over entities and passages (HippoRAG 2's scheme).

A walker restarts at the entities of the best passages, at the entities that the question names, and with a small weight
at every passage by its score. It moves from an entity to its passages, and from a passage to its entities.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.ranking.group import top, z_scores
from secateur.ranking.passage_graph import NO_PLACE, PassageGraph

__all__ = ["Settings", "masses", "walk"]

BATCH = 16  # questions per batch, whose masses fit the processor's cache


@dataclass(frozen=True)
class Settings:
    """Restart distribution, damping and weight of the mass."""

    linked: int = key("best passages whose entities get restart weight", low=0)
    damping: float = key("probability of a step; else the walker restarts", low=0, high=0.99)
    passages: float = key("restart weight of the best passage, relative to a named entity", low=0)
    sharpness: float = key(
        "difference in the ranking's z-scores that divides a passage's restart weight by e", low=0.01
    )
    tolerance: float = key("largest summed error of a question's masses", low=1e-15, high=1)
    weight: float = key("weight of the z-score of a passage's log mass in the sum with the ranking's", low=0)
    longest: int = key("most words of a name in a question", low=1)


def walk(
    settings: Settings, graph: PassageGraph, questions: list[str], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(questions, n) new scores; the origins are -1, since a mass has no single origin."""
    links, reranked = _links(graph), np.empty_like(scores, float)
    for start in range(0, len(questions), BATCH):
        batch = slice(start, start + BATCH)
        restart = _restart(settings, graph, questions[batch], scores[batch])
        mass = masses(links, restart, settings.damping, settings.tolerance)[:, len(graph.entities) :]
        reranked[batch] = scores[batch] + settings.weight * z_scores(np.log(mass + settings.tolerance))
    return reranked, np.full(scores.shape, NO_PLACE, np.int64)


def _restart(settings: Settings, graph: PassageGraph, questions: list[str], scores: NDArray[np.float64]):
    """(questions, entities + passages) restart probabilities."""
    count = len(graph.entities)
    worth = np.exp((scores - scores.max(1, keepdims=True)) / settings.sharpness)
    weights = np.zeros((len(questions), count + scores.shape[1]))
    weights[:, count:] = settings.passages * worth
    for row, question in enumerate(questions):
        for passage in top(scores[row], settings.linked):
            entities = graph.passage_entities[passage]
            weights[row, entities] = np.maximum(weights[row, entities], worth[row, passage] * graph.idf[entities])
        named = graph.named_entities(question, settings.longest)
        weights[row, named] = graph.idf[named]
    return weights / weights.sum(1, keepdims=True)


def masses(links, restart: NDArray[np.float64], damping: float, tolerance: float) -> NDArray[np.float64]:
    """(questions, entities + passages) stationary masses p = (1 - d) restart + d p S.

    links: sparse 0/1 matrix (passages, entities); S is a step to a uniformly random neighbour, and the mass of an
    isolated node restarts. restart: rows sum to 1. The error, summed over nodes, is at most `tolerance`.

    The graph is bipartite, so the entities are eliminated from the passages' equation. Its matrix I - d^2 T has
    eigenvalues in [1 - d^2, 1]; Chebyshev iteration needs a quarter of the products of power iteration.
    """
    from scipy.sparse import diags

    count = links.shape[1]
    of_passage, of_entity = (diags(1 / np.maximum(np.asarray(links.sum(side)).ravel(), 1)) for side in (1, 0))
    to_entities, to_passages = (links.T @ of_passage).tocsr() * damping, (links @ of_entity).tocsr() * damping
    entities, passages = np.ascontiguousarray(restart[:, :count].T), np.ascontiguousarray(restart[:, count:].T)
    half = damping**2 / 2
    centre, ratio = 1 - half, half / (1 - half)
    mass = passages + to_passages @ entities
    residual = to_passages @ (to_entities @ mass)
    change, factor = residual / centre, ratio
    while np.abs(residual).sum(0).max(initial=0.0) > tolerance / 2:
        mass += change
        residual += to_passages @ (to_entities @ change) - change
        after = 2 - ratio * factor
        change *= ratio * factor / after
        change += residual * (2 / (centre * after))
        factor = ratio / after
    both = np.concatenate([entities + to_entities @ mass, mass]).T
    return both / both.sum(1, keepdims=True)


def _links(graph: PassageGraph):
    """Sparse (passages, entities) matrix of mentions."""
    from scipy.sparse import csr_matrix

    passage, entity = graph.pairs
    return csr_matrix((np.ones(len(passage)), (passage, entity)), shape=(len(graph.texts), len(graph.entities)))
