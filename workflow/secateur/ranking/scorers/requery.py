"""A walk over names whose steps ask again, over the scores of `two_step`.

The best passages of the first step are states. A step leads from a state, over an entity that the question does not name,
to passages of other articles that share it. It asks a question of its own: the entity's name, and those words of the
question that the state lacks. A passage gains its z-score under that question, times the entity's idf (a penalty on hubs),
more in an article about the entity. Without steps this is `two_step`. With `anywhere` the same questions are asked of all
passages of other articles and no idf counts: the matched baseline, which lacks the edges alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.ranking.group import CELLS, Group, Questions, Scores, top
from secateur.ranking.passage_graph import PassageGraph
from secateur.ranking.scorers import two_step

ASKS_AGAIN = True


@dataclass(frozen=True)
class Settings(two_step.Settings):
    """The settings of `two_step`, and those of the walk."""

    width: int = key("states: best passages of the first step", low=1, default=1)
    step: float = key(
        "worth of a step over an entity of idf 1, per standard deviation of its question", low=0, default=0.0
    )
    mention: float = key(
        "worth of a step to a mention, as a share of a step to an article about the entity", low=0, default=1.0
    )
    entities: int = key("entities of a state that steps go over, the rarest first", low=1, default=1)
    fade: float = key("a state of the k-th best article (from 0) has weight (1 + k) ** -fade", low=0, default=0.0)
    rounds: int = key("times that the best passages ask, each after the gains of those before", low=1, default=1)
    anywhere: bool = key("a step reaches all passages of other articles, each with worth 1: no edges", default=False)


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Scores of two_step + step * max over steps of (1 + article) ** -fade * idf * max(z(its question), 0)."""
    first = two_step.first_step(settings, group, questions.queries, seed)
    graph = two_step.names_graph(settings, group)
    second = two_step.second_step(settings, group, questions.queries, first, seed)
    gains = np.zeros_like(first)
    for row, question in enumerate(questions.queries):
        best = first[row]
        for _ in range(settings.rounds):
            _walk(settings, group, graph, question, top(best, settings.width), gains[row], seed)
            best = second[row] + settings.step * gains[row]
    return second + settings.step * gains


def _walk(
    settings: Settings,
    group: Group,
    graph: PassageGraph,
    question: str,
    states: NDArray[np.int64],
    gains: NDArray[np.float64],
    seed: int,
) -> None:
    """Raises the (passages,) gains to those of the steps from some states."""
    steps = _steps(settings, graph, question, states)
    size = max(1, CELLS // max(1, len(group.texts)))
    for block in (steps[n : n + size] for n in range(0, len(steps), size)):
        asked = two_step.asked(settings, group, [query for *_, query in block], seed)
        for (state, entity, weight, _), scores in zip(block, asked, strict=True):
            reached, worth = _reached(settings, graph, state, entity)
            gains[reached] = np.maximum(gains[reached], weight * worth * np.maximum(scores[reached], 0.0))


def _steps(
    settings: Settings, graph: PassageGraph, question: str, states: NDArray[np.int64]
) -> list[tuple[int, int, float, str]]:
    """State, entity, weight and question of each step from some states, without edges that lead to no other article."""
    named = graph.occurring_entities(question, settings.longest)
    articles = list(dict.fromkeys(graph.docs[states].tolist()))
    steps = []
    for state in states.tolist():
        weight = (1 + articles.index(graph.docs[state])) ** -settings.fade
        bridges = np.setdiff1d(graph.passage_entities[state], named, assume_unique=True)
        rarest = bridges[np.argsort(-graph.idf[bridges], kind="stable")][: settings.entities].tolist()
        remaining = two_step.lacking(question, graph.words[state])
        leading = [e for e in rarest if settings.anywhere or len(_reached(settings, graph, state, e)[0])]
        steps += [(state, e, weight, f"{graph.names[e]} {remaining}") for e in leading]
    return steps


def _reached(
    settings: Settings, graph: PassageGraph, state: int, entity: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Passages of other articles that a step leads to, and its worth at each per unit of z."""
    passages = np.arange(len(graph.docs)) if settings.anywhere else graph.entity_passages[entity]
    passages = passages[graph.docs[passages] != graph.docs[state]]
    if settings.anywhere:
        return passages, np.ones(len(passages))
    return passages, graph.idf[entity] * np.where(graph.about[passages] == entity, 1.0, settings.mention)
