"""The passages of a group as a graph: who mentions what, and what each article is about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.distinct import distinct_pairs
from secateur.graph.mentions import ABOUT, PHRASE
from secateur.models.words import word_list
from secateur.ranking.bm25 import bm25_terms
from secateur.ranking.names import longest_spans, spans_of

__all__ = ["NOBODY", "Walkable"]

NOBODY = -1  # in the place of a passage or an entity


@dataclass(frozen=True)
class Walkable:
    """n passages in text order and their entities, by place.

    docs: (n,) article of each; texts: what BM25 reads; entities: name -> place; pairs: (passage, entity) of every mention
    and of every passage with what its article is about, by passage; about: (n,) entity, or NOBODY.
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
    ) -> "Walkable":
        """From the table `mentions`; places: passage id -> place; cfg: the retriever."""
        own = mentions.filter(pl.col("passage_id").is_in(list(places)))
        own = own if cfg.phrases else own.filter(pl.col("role") != PHRASE)
        names = {name: n for n, name in enumerate(own["entity"].unique(maintain_order=True))}
        passage = np.array([places[p] for p in own["passage_id"]], np.int64)
        entity = np.array([names[e] for e in own["entity"]], np.int64)
        about, on = np.full(len(texts), NOBODY, np.int64), (own["role"] == ABOUT).to_numpy()
        about[passage[on]] = entity[on]
        pairs = distinct_pairs(passage, entity)
        return cls(docs, texts, names, pairs, about, cfg.k1, cfg.b)

    @cached_property
    def of_passage(self) -> list[NDArray[np.int64]]:
        """The entities of each passage, what its article is about among them."""
        return _grouped(self.pairs[0], self.pairs[1], len(self.texts))

    @cached_property
    def of_entity(self) -> list[NDArray[np.int64]]:
        """The passages of each entity, every passage of an article about it among them."""
        order = np.argsort(self.pairs[1], kind="stable")
        return _grouped(self.pairs[1][order], self.pairs[0][order], len(self.entities))

    @cached_property
    def idf(self) -> NDArray[np.float64]:
        """(entities,) ln((n + 1) / (passages of it + 1)) / ln(n + 1): 0 where every passage leads to it."""
        n = len(self.texts) + 1
        return np.log(n / (np.array([len(own) for own in self.of_entity], float) + 1)) / np.log(n)

    @cached_property
    def terms(self):
        """BM25's word by word: vocabulary and a (words, passages) matrix."""
        return bm25_terms(self.texts, self.k1, self.b)

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The content words of each passage."""
        return [frozenset(word_list(text)) for text in self.texts]

    def named_in(self, question: str, longest: int) -> NDArray[np.int64]:
        """The entities that a question names, none inside another's name."""
        names = longest_spans(question, self.entities.keys(), longest)
        return self._places(names)

    def said_in(self, question: str, longest: int) -> NDArray[np.int64]:
        """Every entity whose name stands in a question: none of them is a bridge."""
        return self._places(spans_of(question, self.entities.keys(), longest))

    def _places(self, names: Iterable[str]) -> NDArray[np.int64]:
        return np.array(sorted({self.entities[name] for name in names}), np.int64)


def _grouped(keys: NDArray[np.int64], values: NDArray[np.int64], count: int) -> list[NDArray[np.int64]]:
    """The values of each key; keys sorted."""
    return np.split(values, np.searchsorted(keys, np.arange(1, count))) if count else []
