"""The graph of a group's passages: the entities that they mention, and the topics of their articles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs
from secateur.models.units import word_list
from secateur.ranking.bm25 import bm25_terms
from secateur.ranking.mentions import ABOUT, PHRASE
from secateur.ranking.names import longest_spans, spans_of

__all__ = ["NO_PLACE", "PassageGraph"]

NO_PLACE = -1  # instead of the place of a passage or an entity


@dataclass(frozen=True)
class PassageGraph:
    """n passages in text order and their entities; both are referred to by place.

    docs: (n,) article of each passage; texts: input of BM25; entities: places by name; pairs: (2, pairs) passage and
    entity of each mention, a passage with its article's topic included, sorted by passage; about: (n,) topic of each
    passage's article, or NO_PLACE.
    """

    docs: NDArray[np.int64]
    texts: Sequence[str]
    entities: Mapping[str, int]
    pairs: NDArray[np.int64]
    about: NDArray[np.int64]
    k1: float
    b: float

    @classmethod
    def of(
        cls, mentions: pl.DataFrame, places: Mapping[str, int], docs: NDArray[np.int64], texts: Sequence[str], cfg
    ) -> "PassageGraph":
        """From the table `mentions`. places: by passage id; cfg: the option `retriever`."""
        mentions = mentions.filter(pl.col("passage_id").is_in(list(places)))
        mentions = mentions if cfg.phrases else mentions.filter(pl.col("role") != PHRASE)
        names = {name: n for n, name in enumerate(mentions["entity"].unique(maintain_order=True))}
        passage = np.array([places[p] for p in mentions["passage_id"]], np.int64)
        entity = np.array([names[e] for e in mentions["entity"]], np.int64)
        about = np.full(len(texts), NO_PLACE, np.int64)
        is_topic = (mentions["role"] == ABOUT).to_numpy()
        about[passage[is_topic]] = entity[is_topic]
        return cls(docs, texts, names, distinct_pairs(passage, entity), about, cfg.k1, cfg.b)

    @cached_property
    def names(self) -> list[str]:
        """Canonical name of each entity."""
        return list(self.entities)

    @cached_property
    def passage_entities(self) -> list[NDArray[np.int64]]:
        """Entities of each passage, its article's topic included."""
        return _grouped(self.pairs[0], self.pairs[1], len(self.texts))

    @cached_property
    def entity_passages(self) -> list[NDArray[np.int64]]:
        """Passages of each entity, all passages of an article about it included."""
        order = np.argsort(self.pairs[1], kind="stable")
        return _grouped(self.pairs[1][order], self.pairs[0][order], len(self.entities))

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """(entities,) ln((n + 1) / (f + 1)) / ln(n + 1) for f of n passages: 0 for an entity of all passages."""
        n = len(self.texts) + 1
        return np.log(n / (np.array([len(passages) for passages in self.entity_passages], float) + 1)) / np.log(n)

    @cached_property
    def steps(self) -> tuple:
        """Steps of a random walk as sparse matrices, each column of which sums to 1 or is empty: (entities, passages) from a
        passage to one of its entities, and (passages, entities) from an entity to one of its passages."""
        from scipy.sparse import csr_matrix, diags

        passage, entity = self.pairs
        links = csr_matrix((np.ones(len(passage)), (passage, entity)), shape=(len(self.texts), len(self.entities)))
        of_passage, of_entity = (diags(1 / np.maximum(np.asarray(links.sum(side)).ravel(), 1)) for side in (1, 0))
        return (links.T @ of_passage).tocsr(), (links @ of_entity).tocsr()

    @cached_property
    def terms(self):
        """BM25 by word: vocabulary and a (words, passages) matrix."""
        return bm25_terms(self.texts, self.k1, self.b)

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """Content words of each passage."""
        return [frozenset(word_list(text)) for text in self.texts]

    def named_entities(self, question: str, longest: int) -> NDArray[np.int64]:
        """Entities that a question names, without names inside longer names."""
        return self._places(longest_spans(question, self.entities.keys(), longest))

    def occurring_entities(self, question: str, longest: int) -> NDArray[np.int64]:
        """Entities whose name occurs in a question, also inside a longer name."""
        return self._places(spans_of(question, self.entities.keys(), longest))

    def topic_idf(self, named: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) idf of the topic of each passage's article if it is among the named entities, else 0."""
        is_named = np.isin(self.about, named)
        return np.where(is_named, self.idf[self.about], 0.0) if len(self.idf) else np.zeros(len(self.about))

    def _places(self, names: Iterable[str]) -> NDArray[np.int64]:
        return np.array(sorted({self.entities[name] for name in names}), np.int64)


def _grouped(keys: NDArray[np.int64], values: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
    """Values of each key; keys are sorted."""
    return np.split(values, np.searchsorted(keys, np.arange(1, count))) if count else []
