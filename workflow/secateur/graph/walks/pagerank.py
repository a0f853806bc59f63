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
    reranked = np.empty_like(scores, float)
    for start in range(0, len(questions), BATCH):
        batch = slice(start, start + BATCH)
        restart = _restart(settings, graph, questions[batch], scores[batch])
        mass = masses(graph.steps, restart, settings.damping, settings.tolerance)[:, len(graph.entities) :]
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


def masses(steps: tuple, restart: NDArray[np.float64], damping: float, tolerance: float) -> NDArray[np.float64]:
    """(questions, entities + passages) stationary masses p = (1 - d) restart + d p S.

    steps: S as two sparse matrices, from passages to entities and back (`PassageGraph.steps`); the mass of an isolated
    node restarts. restart: rows sum to 1. The error, summed over nodes, is at most `tolerance`. A question has the same
    masses alone as in company: its iteration ends by its own residual.

    The graph is bipartite, so the entities are eliminated from the passages' equation. Its matrix I - d^2 T has
    eigenvalues in [1 - d^2, 1]; Chebyshev iteration needs a quarter of the products of power iteration.
    """
    to_entities, to_passages = steps
    count = to_entities.shape[0]
    entities, passages = np.ascontiguousarray(restart[:, :count].T), np.ascontiguousarray(restart[:, count:].T)
    half = damping**2 / 2
    centre, ratio = 1 - half, half / (1 - half)
    mass = passages + damping * _product(to_passages, entities)
    residual = damping**2 * _product(to_passages, _product(to_entities, mass))
    change, factor, solved = residual / centre, ratio, np.empty_like(mass)
    open_ = np.arange(
        len(restart)
    )  # questions whose residual is too large yet: the columns of mass, residual and change
    while len(open_):
        ends = ~(
            np.ascontiguousarray(np.abs(residual).T).sum(1) > tolerance / 2
        )  # row by row; what is not finite ends too
        if ends.any():
            solved[:, open_[ends]] = mass[:, ends]
            still_open = (np.compress(~ends, of, axis=-1) for of in (open_, mass, residual, change))
            open_, mass, residual, change = still_open
        mass += change
        residual += damping**2 * _product(to_passages, _product(to_entities, change)) - change
        after = 2 - ratio * factor
        change *= ratio * factor / after
        change += residual * (2 / (centre * after))
        factor = ratio / after
    stationary = np.ascontiguousarray(np.concatenate([entities + damping * _product(to_entities, solved), solved]).T)
    return stationary / stationary.sum(1, keepdims=True)


def _product(matrix, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """A sparse matrix times columns. A single column is multiplied as a vector, which is faster and adds up in the same order."""
    return (matrix @ columns[:, 0])[:, None] if columns.shape[1] == 1 else matrix @ columns
