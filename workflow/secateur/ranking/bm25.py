"""BM25 over content words, for the ranker `lucene` and for the graph."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from secateur.models.units import word_list
from secateur.ranking.group import EPS, Scores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Bm25", "bm25_matrix", "bm25_terms"]


def bm25_terms(texts: Sequence[str], k1: float, b: float) -> tuple[dict[str, int], "csr_matrix"]:
    """(vocabulary with places, sparse (words, n) matrix of each word's BM25 in each text).

    idf = ln(1 + (N - df + .5) / (df + .5)), as in Lucene.
    """
    from scipy.sparse import csr_matrix

    words: dict[str, int] = {}
    places, ends = array("i"), [0]
    for text in texts:
        places.extend([words.setdefault(word, len(words)) for word in word_list(text)])
        ends.append(len(places))
    shape = (len(texts), max(1, len(words)))
    counts = csr_matrix((np.ones(len(places)), np.frombuffer(places, np.intc), ends), shape=shape)
    counts.sum_duplicates()
    length = np.asarray(counts.sum(1)).ravel()
    df = np.bincount(counts.indices, minlength=shape[1])
    idf = np.log1p((len(texts) - df + 0.5) / (df + 0.5))
    doc = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
    norm = k1 * (1 - b + b * length / max(length.mean(), EPS))
    counts.data = idf[counts.indices] * counts.data * (k1 + 1) / (counts.data + norm[doc])
    return words, counts.T.tocsr()


class Bm25:
    """An index of texts."""

    def __init__(self, texts: Sequence[str], k1: float, b: float) -> None:
        self.words, self.parts = bm25_terms(texts, k1, b)

    def scores(self, queries: Sequence[str]) -> Scores:
        """(q, n) BM25 of the texts; each query word counts once."""
        starts, texts, values = self.parts.indptr, self.parts.indices, self.parts.data
        scores = np.zeros((len(queries), self.parts.shape[1]))
        for row, query in zip(scores, queries, strict=True):
            for word in sorted({self.words[w] for w in word_list(query) if w in self.words}):
                holding = slice(starts[word], starts[word + 1])  # each text once
                row[texts[holding]] += values[holding]
        return scores


def bm25_matrix(texts: Sequence[str], queries: Sequence[str], k1: float, b: float) -> Scores:
    """(q, n) BM25 of texts for queries; each query word counts once."""
    return Bm25(texts, k1, b).scores(queries)
