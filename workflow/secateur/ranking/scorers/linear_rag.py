"""LinearRAG (Zhuang et al., ICLR 2026, arXiv 2510.10114): a graph of passages and entities, without relations.

Written after its released code. Edges link a passage to each entity in it and to its document's passage before, so it is
order-aware. The question's entities activate those nearest to them. Round by round, sentences with an active entity and
close to the question activate the entities in them. Personalised PageRank restarts at active entities, and at passages by
cosine and by the active entities in them. A question without entities is ranked by cosine. Passages have their titles.
Entities are spaCy's, by surface form and without ordinals and cardinals, as released, or the names of `two_step`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.config.plugins import NoSettings
from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.core.pagerank import masses, transitions
from secateur.core.products import by_component, products
from secateur.datasets.language import seems_foreign
from secateur.datasets.sentences import sentences
from secateur.models.prompts import asked
from secateur.models.spacy_model import load_spacy
from secateur.models.words import MOSTLY, PARSER
from secateur.ranking.group import Group, Questions, Scores, top
from secateur.ranking.names import canonical, names_in
from secateur.ranking.scorers import dense
from secateur.ranking.scorers.two_step import names_graph

ORDER_AWARE = True
LEFT_OUT = ("ORDINAL", "CARDINAL")  # labels of spaCy's entities, as in the released code
# texts of passages, in which entities are counted; (passage, sentence, entity) of each mention; entities of a question
Source = tuple[Sequence[str], list[tuple[int, str, str]], Callable[[str], list[str]]]


@dataclass(frozen=True)
class Settings:
    """The source of entities, and the settings of the released code under their names there."""

    entities: Literal["spacy", "names"] = key("whose entities: spaCy's, or names as two_step reads them")
    iteration_threshold: float = key("least score of an entity that is activated, or activates others", low=0)
    top_k_sentence: int = key("sentences through which an entity activates others, the closest first", low=1)
    max_iterations: int = key("rounds of activation, that of the seeds included", low=1)
    passage_ratio: float = key("weight of a passage's cosine beside the active entities in it", low=0.001)
    passage_node_weight: float = key("restart weight of passages beside that of entities", low=0.001)
    damping: float = key("probability of a step; else the walker restarts", low=0, high=0.99)
    adjacent: float = key("weight of the edge between neighbours in a document, beside the entities' sum of 1", low=0)
    joins: tuple[str, ...] = key("small words that join two capitalised words to one name", default=())
    skipped: tuple[str, ...] = key("capitalised words that do not begin a name", default=())
    longest: int = key("most words of a name", low=1, default=8)


def check(settings: Settings, questions: pl.DataFrame, passages: pl.DataFrame, is_limited: bool) -> None:
    """Refuse passages in another language than spaCy's model reads."""
    if settings.entities == "spacy" and (seen := seems_foreign(passages["text"].to_list(), MOSTLY)):
        raise SecateurError(f"ranker linear_rag: entities=spacy reads English alone, and {seen}. Fix: entities=names.")


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Stationary mass of each passage; the cosine for a question without entities."""
    options = (settings.entities, settings.joins, settings.skipped, settings.longest, settings.adjacent)
    index = group.once(("linear_rag", *options), lambda: _Index(settings, group))
    scores = dense.score(NoSettings(), index.titled, questions, seed)
    vectors = group.embed(asked(questions.queries))
    for row, question in enumerate(questions.queries):
        if index.entities and (named := list(dict.fromkeys(index.named(question)))):
            cosines = products(group.embed(named), index.vectors)
            seeds = dict(zip(cosines.argmax(1).tolist(), cosines.max(1).tolist(), strict=True))
            near = products(vectors[row : row + 1], index.sentences)[0].astype(float)
            activation = activated(settings, seeds, near, index.sentences_of, index.entities_of)
            restart = _restart(settings, index, scores[row], *activation)
            scores[row] = masses(index.steps, restart, settings.damping)[len(index.entities) :]
    return scores


def activated(settings: Settings, seeds: dict[int, float], near, sentences_of, entities_of) -> tuple[dict, dict]:
    """Weight of each active entity, and its last score with its tier: 1 for seeds, n for the n-th round.

    seeds: scores by entity; near: (sentences,) cosines with the question; sentences_of, entities_of: lists.
    """
    weights, active, current, used = dict(seeds), {e: (value, 1) for e, value in seeds.items()}, seeds, set[int]()
    for tier in range(2, settings.max_iterations + 1):
        reached: dict[int, float] = {}
        for entity in (e for e, value in current.items() if value >= settings.iteration_threshold):
            unused = np.array([sentence for sentence in sentences_of[entity] if sentence not in used], np.int64)
            for sentence in unused[top(near[unused], settings.top_k_sentence)].tolist():
                used.add(sentence)
                passed = current[entity] * near[sentence]
                for other in entities_of[sentence] if passed >= settings.iteration_threshold else ():
                    weights[other], reached[other] = weights.get(other, 0.0) + passed, passed
        active |= {entity: (value, tier) for entity, value in reached.items()}
        current = reached
    return weights, active


def _restart(settings: Settings, index: "_Index", cosines, weights: dict, active: dict) -> NDArray[np.float64]:
    """(entities + passages,) restart probabilities."""
    bonus, of_entities = np.zeros(len(cosines)), np.zeros(len(index.entities))
    of_entities[list(weights)] = list(weights.values())
    for entity, (value, tier) in active.items():
        passages, counts = index.occurrences(entity)
        bonus[passages] += value * np.log1p(counts) / tier
    span = np.ptp(cosines)
    dense_part = (cosines - cosines.min()) / span if span else np.ones(len(cosines))
    of_passages = settings.passage_ratio * dense_part + np.log1p(np.maximum(bonus, 0))
    restart = np.maximum(np.concatenate([of_entities, settings.passage_node_weight * of_passages]), 0)
    return restart / restart.sum()


def _spacy(settings: Settings, group: Group, titled: Sequence[str]) -> Source:
    """spaCy's entities, by surface form; those of a question in lower case."""
    model = load_spacy(PARSER, ("tagger", "attribute_ruler", "lemmatizer"), "ranker linear_rag")

    def entities(doc) -> list[tuple[str, str]]:
        return [(span.sent.text, span.text) for span in doc.ents if span.label_ not in LEFT_OUT]

    mentions = [(passage, *mention) for passage, doc in enumerate(model.pipe(titled)) for mention in entities(doc)]
    return titled, mentions, lambda question: [entity.lower() for _, entity in entities(model(question))]


def _names(settings: Settings, group: Group, titled: Sequence[str]) -> Source:
    """Names in canonical form, and the topic of its article in each sentence."""
    lines = [(passage, line) for passage, text in enumerate(group.texts) for line, *_ in sentences(text)]
    titles, docs = [group.titles[passage] for passage, _ in lines], group.docs[[passage for passage, _ in lines]]
    graph = names_graph(settings, Group([line for _, line in lines], titles, docs, group.embed))
    mentions = [(*lines[sentence], graph.names[entity]) for sentence, entity in graph.pairs.T]
    read = partial(names_in, joins=frozenset(settings.joins), skipped=frozenset(settings.skipped))
    return list(map(canonical, titled)), mentions, read


class _Index:
    """What is made from the passages alone: entities, sentences that mention one, their vectors, and the graph."""

    def __init__(self, settings: Settings, group: Group) -> None:
        titled = [f"{title}\n{text}" if title else text for title, text in zip(group.titles, group.texts, strict=True)]
        self.titled = Group(titled, group.titles, group.docs, group.embed)
        self.texts, mentions, self.named = (_spacy if settings.entities == "spacy" else _names)(settings, group, titled)
        lines, names = ({name: n for n, name in enumerate(dict.fromkeys(m[of] for m in mentions))} for of in (1, 2))
        self.entities, self.entities_of, self.sentences_of = list(names), [[] for _ in lines], [[] for _ in names]
        for line, entity in dict.fromkeys((lines[line], names[entity]) for _, line, entity in mentions):
            self.entities_of[line].append(entity)
            self.sentences_of[entity].append(line)
        self.vectors, self.sentences = (by_component(group.embed(list(of))) for of in (names, lines))
        pairs = sorted({(passage, names[name]) for passage, _, name in mentions})
        self.steps = transitions(self._edges(np.array(pairs, np.int64).reshape(-1, 2).T, settings.adjacent))
        folded = [text.lower() for text in self.texts]
        self.folded, self.starts = "\0".join(folded), np.cumsum([0, *(len(text) + 1 for text in folded[:-1])])
        self.occurrences = cache(self._occurrences)

    def _edges(self, pairs: NDArray[np.int64], adjacent: float):
        """Sparse weights between entities, then passages: the entity's share of a passage's occurrences of entities."""
        from scipy.sparse import coo_array

        (passage, entity), nodes = pairs, len(self.entities) + np.arange(len(self.texts))
        counts = np.array([max(1, self.texts[p].count(self.entities[e])) for p, e in pairs.T], float)  # 1: topic alone
        before = np.flatnonzero(np.diff(self.titled.docs) == 0)  # documents of a pool have no order
        weights = np.concatenate([counts / np.bincount(passage, counts)[passage], np.full(len(before), adjacent)])
        ends = np.concatenate([nodes[passage], nodes[before + 1]]), np.concatenate([entity, nodes[before]])
        half = coo_array((weights, ends), shape=(nodes[-1] + 1,) * 2)
        return (half + half.T).tocsr()

    def _occurrences(self, entity: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Passages whose text has an entity, in any case, and how often."""
        matches = re.finditer(re.escape(self.entities[entity].lower()), self.folded)
        passages = np.searchsorted(self.starts, [match.start() for match in matches], side="right") - 1
        return np.unique(passages, return_counts=True)
