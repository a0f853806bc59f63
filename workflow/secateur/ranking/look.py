"""A second look at the passages that rankers found: which hold evidence, given those that were chosen before?

The passages chosen so far are the *chain*. Each asks again: its title, or a name in it that the question lacks, with those
words of the question that it lacks. A candidate is described by its scores under the question and under these follow-ups, by
its sentences' cosines with them, by the words of the question that it covers alone and with the chain, and by the names that
link it to the chain. No feature is a title, a name, an id or a word: what was learned on one set of texts holds on another.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from secateur.core.fields import key
from secateur.core.products import products
from secateur.datasets.sentences import sentences
from secateur.models.units import content_words
from secateur.ranking.group import CELLS, EPS, Group, Questions, Scores, scores_of, top, z_scores
from secateur.ranking.scorers import dense, two_step

__all__ = ["Chain", "Look", "Seen", "Settings"]

RANKS = 100  # a lower place counts as this one
FOLLOWED = ("followed", "linked")  # rows of gains, which have no meaningful mean
UNION = ("lexical", "dense", "first", "second", "second+followed", "second+linked")  # rankings whose best are looked at


@dataclass(frozen=True)
class Settings(two_step.Settings):
    """The settings of `two_step`, whose rankings are looked at, and those of the look."""

    candidates: int = key("best passages of each ranking that are looked at", low=1, default=20)
    width: int = key("passages of the chain", low=1, default=5)
    entities: int = key("names of a passage of the chain that ask again, the rarest first", low=1, default=8)
    step: float = key("weight of the gain of a follow-up beside the scores of `two_step`", low=0, default=5.0)
    mention: float = key(
        "worth of a link to a mention of a name, as a share of a link to an article about it", low=0, default=0.5
    )
    fade: float = key("passage k (from 0) of the first chain has weight (1 + k) ** -fade", low=0, default=0.5)
    sentences: int = key("sentences of a passage that are compared, the first ones", low=1, default=12)


@dataclass(frozen=True)
class Chain:
    """Passages chosen so far, best first, and their weights in [0, 1]. probabilities: of all passages seen, by place."""

    places: list[int]
    weights: list[float]
    probabilities: dict[int, float] | None = None


@dataclass(frozen=True)
class Seen:
    """Candidates of a question, by place, and their (n, features) features."""

    places: NDArray[np.int64]
    features: NDArray[np.float32]


@dataclass(frozen=True)
class _FollowUp:
    """A question that a passage of the chain asks again. entity: the name it asks for, or -1 for the passage's title."""

    source: int
    entity: int
    text: str


class Look:
    """The passages of a group, described for questions."""

    def __init__(self, settings: Settings, group: Group, seed: int) -> None:
        self.settings, self.group, self.seed = settings, group, seed
        self.graph = two_step.names_graph(settings, group)
        self.articles = group.docs if group.articles is None else group.articles

    @property
    def passages_per_article(self) -> float:
        """The mean number of passages of an article."""
        return len(self.articles) / len(np.unique(self.articles))

    @cached_property
    def _idf(self) -> dict[str, float]:
        count = len(self.graph.words) + 1
        passages = Counter(word for words in self.graph.words for word in words)
        return {word: math.log(count / (n + 1)) for word, n in passages.items()}

    def _weight(self, words: Iterable[str]) -> float:
        """Sum of the idf of words, in any order the same to the bit."""
        unseen = math.log(len(self.graph.words) + 1)
        return math.fsum(self._idf.get(word, unseen) for word in words)

    def rankings(self, queries: Sequence[str]) -> dict[str, Scores]:
        """(queries, passages) scores of the rankings of the question itself, by name."""
        settings, group = self.settings, self.group
        first = two_step.first_step(settings, group, queries, self.seed)
        return {
            "lexical": z_scores(scores_of(settings.lexical, "lexical", group, Questions(queries), self.seed)),
            "dense": z_scores(dense.score(dense.Settings(), group, Questions(queries), self.seed)),
            "first": first,
            "second": two_step.second_step(settings, group, queries, first, self.seed),
        }

    def first_chain(self, scores: dict[str, NDArray[np.float64]]) -> Chain:
        """The best passages of the first step. scores: of one question, by ranking."""
        places = top(scores["first"], self.settings.width).tolist()
        return Chain(places, [(1 + k) ** -self.settings.fade for k in range(len(places))])

    def next_chain(self, seen: Seen, probabilities: NDArray[np.float64]) -> Chain:
        """The most probable candidates, which weigh as much as they are probable."""
        best = np.argsort(-probabilities, kind="stable")[: self.settings.width]
        by_place = dict(zip(seen.places.tolist(), probabilities.tolist(), strict=True))
        return Chain(seen.places[best].tolist(), probabilities[best].tolist(), by_place)

    def seen(self, question: str, scores: dict[str, NDArray[np.float64]], chain: Chain) -> Seen:
        """The candidates of a question and their features, given a chain."""
        named = self.graph.occurring_entities(question, self.settings.longest)
        asked = self._follow_ups(question, named, chain)
        rows = scores | self._gains(asked, chain)
        rows |= {f"second+{name}": rows["second"] + self.settings.step * rows[name] for name in FOLLOWED}
        best = [top(rows[name], self.settings.candidates).tolist() for name in UNION]
        kept = [] if chain.probabilities is None else _most_probable(chain.probabilities, self.settings.candidates)
        places = np.array(list(dict.fromkeys([place for part in [*best, kept] for place in part])), np.int64)
        columns = [*_ranked(rows, places, self.settings.candidates), *self._covering(question, places)]
        columns += [*self._articles(rows, places), *self._meanings(question, asked, chain, places)]
        columns += list(self._links(question, named, chain, places))
        features = np.array(columns, float).T
        spread = (features - features.mean(0)) / (features.std(0) + EPS)
        earlier = [] if chain.probabilities is None else _known(chain.probabilities, places)
        return Seen(places, np.hstack([features, spread, *earlier]).astype(np.float32))

    def _follow_ups(self, question: str, named: NDArray[np.int64], chain: Chain) -> list[_FollowUp]:
        """The questions that a chain asks again. named: entities that the question names."""
        asked = []
        for place in chain.places:
            remaining = two_step.lacking(question, self.graph.words[place])
            bridges = np.setdiff1d(self.graph.passage_entities[place], named, assume_unique=True)
            rarest = bridges[np.argsort(-self.graph.idf[bridges], kind="stable")][: self.settings.entities].tolist()
            asked.append(_FollowUp(place, -1, f"{self.group.titles[place]} {remaining}".strip()))
            asked += [_FollowUp(place, entity, f"{self.graph.names[entity]} {remaining}") for entity in rarest]
        return asked

    def _gains(self, asked: Sequence[_FollowUp], chain: Chain) -> dict[str, NDArray[np.float64]]:
        """What each passage gains from the follow-ups of other articles: anywhere, and over a name that it shares."""
        graph, count = self.graph, len(self.group.texts)
        weights = dict(zip(chain.places, chain.weights, strict=True))
        followed, linked = np.zeros(count), np.zeros(count)
        size = max(1, CELLS // max(1, count))
        for block in (asked[n : n + size] for n in range(0, len(asked), size)):
            answers = two_step.asked(self.settings, self.group, [follow_up.text for follow_up in block], self.seed)
            for follow_up, answer in zip(block, answers, strict=True):
                gain = weights[follow_up.source] * np.maximum(answer, 0.0)
                gain[self.articles == self.articles[follow_up.source]] = 0.0
                followed = np.maximum(followed, gain)
                if follow_up.entity >= 0:
                    reached = graph.entity_passages[follow_up.entity]
                    worth = np.where(graph.about[reached] == follow_up.entity, 1.0, self.settings.mention)
                    over = gain[reached] * graph.idf[follow_up.entity] * worth
                    linked[reached] = np.maximum(linked[reached], over)
        return {"followed": followed, "linked": linked}

    def _covering(self, question: str, places: NDArray[np.int64]) -> list[Sequence[float]]:
        """Share of the question's words (by idf) that each candidate has; how many it has and lacks; whether it is named."""
        words = content_words(question)
        whole = self._weight(words) or 1.0
        have = [words & self.graph.words[place] for place in places]
        topic = self.graph.topic_idf(self.graph.named_entities(question, self.settings.longest))[places]
        counts = [[float(len(part)) for part in have], [float(len(words) - len(part)) for part in have]]
        return [[self._weight(part) / whole for part in have], *counts, topic > 0, topic]

    def _articles(self, rows: dict[str, NDArray[np.float64]], places: NDArray[np.int64]) -> list[NDArray]:
        """Candidates of the same article, and whether another of them ranks higher."""
        articles = self.articles[places]
        order = np.argsort(-rows["second+linked"][places], kind="stable")
        leads = np.zeros(len(places), bool)
        leads[order[np.unique(articles[order], return_index=True)[1]]] = True
        return [(articles[:, None] == articles).sum(1), ~leads]

    def _sentences(self, place: int) -> list[str]:
        """The first sentences of a passage, after its title."""
        title, text = self.group.titles[place], self.group.texts[place]
        first_sentences = [part for part, _, _ in sentences(text)][: self.settings.sentences] or [text]
        return [f"{title}: {part}" if title else part for part in first_sentences]

    def _meanings(
        self, question: str, asked: Sequence[_FollowUp], chain: Chain, places: NDArray[np.int64]
    ) -> list[NDArray]:
        """Cosines of the candidates' sentences with the question and with the follow-ups of other articles."""
        by_candidate = [
            self.group.once(("sentences", self.settings.sentences, place), lambda p=place: self._sentences(p))
            for place in places.tolist()
        ]
        texts = [question, *(follow_up.text for follow_up in asked), *(part for of in by_candidate for part in of)]
        vectors = self.group.embed(texts)
        cosines = products(vectors[: 1 + len(asked)], vectors[1 + len(asked) :])
        starts = np.cumsum([0, *(len(of) for of in by_candidate)])
        best = np.maximum.reduceat(cosines, starts[:-1], axis=1)
        mean = np.add.reduceat(cosines[0], starts[:-1]) / np.diff(starts)
        alone = [best[0], mean, best[0] - mean]
        if not asked:
            return [*alone, *([np.zeros(len(places))] * 6)]
        source = np.array([follow_up.source for follow_up in asked])
        weight = np.array([dict(zip(chain.places, chain.weights, strict=True))[place] for place in source.tolist()])
        same = self.articles[source][:, None] == self.articles[places]
        others = np.where(same, -1.0, best[1:])
        entities = [follow_up.entity for follow_up in asked]
        has = np.array([np.isin(entities, self.graph.passage_entities[place]) for place in places]).T
        from_first = np.where((source == chain.places[0])[:, None], others, -1.0)
        weighted = others * weight[:, None]
        three = np.sort(others, 0)[-3:].mean(0)
        means = [others.max(0), three, (others * has).max(0), weighted.max(0), (weighted * has).max(0)]
        return [*alone, *means, from_first.max(0)]

    def _links(
        self, question: str, named: NDArray[np.int64], chain: Chain, places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """(9, candidates): names that link a candidate to the chain, and the question's words that both cover together."""
        graph, articles = self.graph, self.articles
        words = content_words(question)
        whole = self._weight(words) or 1.0
        links = np.zeros((9, len(places)))
        names = {place: set(graph.passage_entities[place].tolist()) for place in {*places.tolist(), *chain.places}}
        in_question = set(named.tolist())
        for column, place in enumerate(places.tolist()):
            value = links[:, column]
            for state, weight in zip(chain.places, chain.weights, strict=True):
                value[7] = max(value[7], articles[state] == articles[place])
                value[8] = max(value[8], weight * (state == place))
                if articles[state] == articles[place]:
                    continue
                into, back = graph.about[place] in names[state], graph.about[state] in names[place]
                shared = (names[state] & names[place]) - in_question
                rarest = max((graph.idf[name] for name in shared), default=0.0)
                together = self._weight(words & (graph.words[state] | graph.words[place])) / whole
                added = self._weight((words - graph.words[state]) & graph.words[place]) / whole
                value[:2] += weight * into, weight * back
                largest = [weight * rarest, together, weight * together, weight * added * (into or back)]
                value[2:7] = np.maximum(value[2:7], [*largest, weight * len(shared)])
        return links


def _most_probable(probabilities: dict[int, float], count: int) -> list[int]:
    return sorted(probabilities, key=lambda place: -probabilities[place])[:count]


def _known(probabilities: dict[int, float], places: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """(candidates, 6): the probability before, its logarithm, place, distance to the fifth; sum and highest of all."""
    before = np.array([probabilities.get(place, 0.0) for place in places.tolist()])
    order = np.argsort(-before, kind="stable")
    rank = np.empty(len(before))
    rank[order] = np.arange(len(before))
    fifth = before[order][min(4, len(before) - 1)]
    whole = [np.full(len(before), before.sum()), np.full(len(before), before.max())]
    return [np.stack([before, np.log(before + 1e-4), np.log1p(rank), before - fifth, *whole], 1)]


def _ranked(rows: dict[str, NDArray[np.float64]], places: NDArray[np.int64], best: int) -> list[NDArray[np.float64]]:
    """Place, distance to the best and score of the candidates in each ranking; their best place and mean reciprocal place."""
    columns, ranks = [], []
    for name, scores in rows.items():
        highest = np.sort(scores[top(scores, RANKS)])[::-1]
        rank = np.searchsorted(-highest, -scores[places])  # equal scores share a place, wherever they stand
        level = 0.0 if name in FOLLOWED else scores.mean()
        scale = 1.0 if name in FOLLOWED else scores.std() + EPS
        gaps = (scores[places] - highest[0]) / (highest[:best].std() + EPS)
        ranks.append(rank)
        columns += [np.log1p(rank), gaps, (scores[places] - level) / scale]
    return [*columns, np.log1p(np.min(ranks, 0)), (1 / (1 + np.array(ranks))).mean(0)]
