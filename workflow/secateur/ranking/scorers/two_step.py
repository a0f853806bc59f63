"""Two-step retrieval: the question is expanded with the best lines and asked again, a baseline for graph walks.

The first step ranks by the sum of a lexical ranker's and the cosine's z-scores, plus `named` times the idf of an article's
topic where the question names it, as the walk `beam` has it. Each of its best lines then expands the question, with the
names that the question lacks or with the whole line. A passage gains its best z-score under these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import polars as pl

from secateur.core.fields import key
from secateur.models.units import content_words, word_list
from secateur.models.words import is_cased
from secateur.ranking.group import Group, Questions, Scores, z_scores
from secateur.ranking.mentions import mentions_of
from secateur.ranking.names import names_in
from secateur.ranking.passage_graph import PassageGraph
from secateur.ranking.scorers import zsum

ASKS_AGAIN = True


@dataclass(frozen=True)
class Settings:
    """The ranker of both steps, and the expansion."""

    lexical: dict[str, Any] = key("plug-in (kind) and settings of the lexical ranker")
    lines: int = key("best lines of the first step that expand the question", low=1)
    adds: Literal["names", "text"] = key("what a line adds to the question: its names, or all of it")
    weight: float = key("weight of the second step", low=0)
    decay: float = key("the line at place k (from 0) has weight (1 + k) ** -decay", low=0)
    dense: float = key("weight of the cosine's z-score beside the lexical ranker's", low=0, default=1.0)
    joins: tuple[str, ...] = key("small words that join two capitalised words to one name", default=())
    skipped: tuple[str, ...] = key("capitalised words that do not begin a name", default=())
    named: float = key("gain of passages of an article that the question names, times its idf", low=0, default=0.0)
    longest: int = key("most words of a name in a question", low=1, default=8)
    rest: bool = key(
        "the second step asks for the words of the question that the line lacks, not for all", default=False
    )


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """s + weight * max over lines of (1 + place) ** -decay * z(second step), with s = z(first step) + named * idf."""
    return second_step(settings, group, questions.queries, first_step(settings, group, questions.queries, seed), seed)


def second_step(settings: Settings, group: Group, queries: Sequence[str], scores: Scores, seed: int) -> Scores:
    """The scores of the first step, with the gain of asking again with each of the best lines."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, : settings.lines]
    gains = np.full(scores.shape, -np.inf)
    for place in range(best.shape[1]):
        again = [
            _expanded(settings, q, group.texts[n], group.titles[n])
            for q, n in zip(queries, best[:, place], strict=True)
        ]
        gains = np.maximum(gains, (1 + place) ** -settings.decay * asked(settings, group, again, seed))
    return scores + settings.weight * gains


def asked(settings: Settings, group: Group, queries: Sequence[str], seed: int) -> Scores:
    """(queries, passages) z-scores of the sum of the lexical ranker's and the cosine's."""
    return z_scores(zsum.score(zsum.Settings(settings.lexical, settings.dense), group, Questions(queries), seed))


def first_step(settings: Settings, group: Group, queries: Sequence[str], seed: int) -> Scores:
    """(queries, passages) scores of the question alone, with the bonus for articles that it names."""
    scores = asked(settings, group, queries, seed)
    return scores + settings.named * _topic_idf(settings, group, queries) if settings.named else scores


def _topic_idf(settings: Settings, group: Group, queries: Sequence[str]) -> Scores:
    """(questions, passages) idf of the topic of each passage's article where the question names it, else 0."""
    graph = names_graph(settings, group)
    return np.stack([graph.topic_idf(graph.named_entities(query, settings.longest)) for query in queries])


def names_graph(settings: Settings, group: Group) -> PassageGraph:
    """The passages and the names in them, without triples."""

    def graph() -> PassageGraph:
        ids = [str(n) for n in range(len(group.texts))]
        docs = pl.Series(group.docs).cast(pl.String)
        articles = group.docs if group.articles is None else group.articles
        passages = pl.DataFrame(
            {"passage_id": ids, "doc_id": docs, "title": list(group.titles), "text": list(group.texts)}
        )
        places = {name: n for n, name in enumerate(ids)}
        words = SimpleNamespace(phrases=False, k1=1.2, b=0.75)  # BM25, which names do not need
        titled = [f"{title} {text}" for title, text in zip(group.titles, group.texts, strict=True)]
        return PassageGraph.of(mentions_of(passages, {}, settings), places, articles, titled, words)

    return group.once(("names", settings.joins, settings.skipped, settings.longest), graph)


def _expanded(settings: Settings, question: str, line: str, title: str) -> str:
    """The question with what a line adds to it: all of a line without a name, where no capitals mark names."""
    names = names_in(f"{title}. {line}", frozenset(settings.joins), frozenset(settings.skipped))
    asked_for = lacking(question, frozenset(word_list(f"{title} {line}"))) if settings.rest else question
    if settings.adds == "text" or (not names and not is_cased(line)):
        return f"{asked_for} {title} {line}"
    question_words = content_words(question)
    return " ".join([asked_for, *(name for name in dict.fromkeys(names) if not content_words(name) <= question_words)])


def lacking(question: str, contained: frozenset[str]) -> str:
    """The question without the words whose content a passage has: function words stay.

    >>> lacking("Where was the director of Free Guy born?", frozenset({"free", "guy", "director"}))
    'Where was the of born?'
    """
    contents: Sequence[tuple[str, frozenset[str]]] = [(word, content_words(word)) for word in question.split()]
    return " ".join(word for word, content in contents if not content or not content <= contained)
