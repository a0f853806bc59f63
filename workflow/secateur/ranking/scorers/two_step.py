"""Retrieval again with what the first retrieval found: the plain baseline that a graph which walks must beat.

The sum of a lexical ranker's and the cosine's z-scores ranks all passages; each of the best lines then asks a question of
its own, the question with the names in the line that it lacks (or with the whole line), and a passage gains the best
z-score that it has under one of these.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from secateur.core.fields import key
from secateur.models.words import content_words
from secateur.ranking.group import Asked, Group, Scores, z_scores
from secateur.ranking.names import names_in
from secateur.ranking.scorers import dense
from secateur.ranking.scorers._lexical import lexical


@dataclass(frozen=True)
class Settings:
    """The first ranker, and how it asks again."""

    lexical: dict[str, Any] = key("kind and settings of the lexical ranker")
    lines: int = key("best lines of the first retrieval that ask again", low=1)
    adds: Literal["names", "text"] = key("what a line adds to the question: its names, or all of it")
    weight: float = key("weight of the second retrieval", low=0)
    decay: float = key("the line at place k (from 0) counts (1 + k) ** -decay", low=0)
    dense: float = key("weight of the cosine's z-score beside the lexical ranker's", low=0, default=1.0)
    joins: tuple[str, ...] = key("small words that join two capitalised ones to a name", default=())
    skipped: tuple[str, ...] = key("capitalised words that begin no name", default=())


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """z(first) + weight * max over lines of their share of z(again)."""
    words = lexical(settings.lexical)

    def retrieved(queries: list[str]) -> Scores:
        again = Asked(queries)
        scores = z_scores(words(group, again, seed))
        return scores + settings.dense * z_scores(dense.score(dense.Settings(), group, again, seed))

    first = retrieved(list(asked.queries))
    best = np.argsort(-first, axis=1, kind="stable")[:, : settings.lines]
    found = z_scores(first)
    gained = np.full(found.shape, -np.inf)
    for place in range(best.shape[1]):
        queries = [
            _again(settings, q, group.texts[n], group.titles[n])
            for q, n in zip(asked.queries, best[:, place], strict=True)
        ]
        gained = np.maximum(gained, (1 + place) ** -settings.decay * z_scores(retrieved(queries)))
    return found + settings.weight * gained


def _again(settings: Settings, question: str, line: str, title: str) -> str:
    """The question and what a line adds to it."""
    if settings.adds == "text":
        return f"{question} {title} {line}"
    known = content_words(question)
    names = names_in(f"{title}. {line}", frozenset(settings.joins), frozenset(settings.skipped))
    return " ".join([question, *(name for name in dict.fromkeys(names) if not content_words(name) <= known)])
