"""Sentence scorers without a language model: the baselines every context selector has to beat.

Each scores all passages of a group for a batch of questions: a (questions, passages) matrix. Scores of
a scorer named NAME+neighbour add a share of the better neighbour's z-score; NAME+answer reads the
question with its gold answer (answer-aware, for comparison with answer-aware scorers only).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.models.words import word_list

__all__ = ["Group", "bm25_matrix", "neighbour_smoothed", "score", "z_scores"]

Scores = NDArray[np.float64]  # (questions, passages)
EPS = 1e-9  # keeps a constant row's z-scores finite


@dataclass(frozen=True)
class Group:
    """The passages that questions choose from, in reading order.

    texts: what is scored ("Speaker: text" for dialogue); titles: per passage, may be empty;
    docs: (n,) document number, neighbours stay inside; vectors: unit embeddings, on demand.
    """

    texts: Sequence[str]
    titles: Sequence[str]
    docs: NDArray[np.int64]
    embed: Callable[[Sequence[str]], NDArray[np.float32]]


def z_scores(scores: Scores) -> Scores:
    """Each row minus its mean over its population standard deviation."""
    return (scores - scores.mean(1, keepdims=True)) / (scores.std(1, keepdims=True) + EPS)


def neighbour_smoothed(scores: Scores, docs: NDArray[np.int64], share: float) -> Scores:
    """z-scores plus `share` times the better neighbouring passage's, inside the document.

    A missing neighbour counts as the row's minimum.
    """
    z = z_scores(scores)
    lowest = z.min(1, keepdims=True)
    same = docs[1:] == docs[:-1]
    before, after = np.tile(lowest, z.shape[1]), np.tile(lowest, z.shape[1])
    before[:, 1:] = np.where(same, z[:, :-1], lowest)
    after[:, :-1] = np.where(same, z[:, 1:], lowest)
    return z + share * np.maximum(before, after)


# --- lexical -----------------------------------------------------------------------------------


@cache
def _stemmer():
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


@cache
def _snowball(word: str) -> str:
    return _stemmer().stem(word)


def _okapi_tokens(text: str) -> list[str]:
    """Stop words dropped first, then Snowball: the order matters for the published rows."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [_snowball(w) for w in re.findall("[a-z0-9]+", text.lower()) if w not in ENGLISH_STOP_WORDS]


def _bm25_okapi(group: Group, queries: Sequence[str], k1: float, b: float) -> Scores:
    """rank_bm25's BM25Okapi as it is (its idf floor included), query terms with multiplicity."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([_okapi_tokens(t) for t in group.texts], k1=k1, b=b)
    return np.array([index.get_scores(_okapi_tokens(q)) for q in queries]).reshape(len(queries), len(group.texts))


def bm25_matrix(texts: Sequence[str], queries: Sequence[str], k1: float, b: float) -> Scores:
    """BM25 over content words, idf ln(1 + (N - df + .5) / (df + .5)), each query word once: (q, n)."""
    from scipy.sparse import csr_matrix

    words: dict[str, int] = {}
    rows, columns = [], []
    for n, text in enumerate(texts):
        for word in word_list(text):
            rows.append(n)
            columns.append(words.setdefault(word, len(words)))
    shape = (len(texts), max(1, len(words)))
    counts = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    counts.sum_duplicates()
    length = np.asarray(counts.sum(1)).ravel()
    df = np.bincount(counts.indices, minlength=shape[1])
    idf = np.log1p((len(texts) - df + 0.5) / (df + 0.5))
    doc = np.repeat(np.arange(len(texts)), np.diff(counts.indptr))
    norm = k1 * (1 - b + b * length / max(length.mean(), EPS))
    counts.data = idf[counts.indices] * counts.data * (k1 + 1) / (counts.data + norm[doc])
    asked = [sorted({words[w] for w in word_list(q) if w in words}) for q in queries]
    ends = np.cumsum([0, *map(len, asked)])
    flat = np.fromiter((c for one in asked for c in one), np.int64, count=int(ends[-1]))
    query = csr_matrix((np.ones(len(flat)), flat, ends), shape=(len(queries), shape[1]))
    return (query @ counts.T).toarray()


def _lucene(group: Group, queries: Sequence[str], k1: float, b: float, title: bool) -> Scores:
    texts = [f"{t} {s}" for t, s in zip(group.titles, group.texts, strict=True)] if title else group.texts
    return bm25_matrix(texts, queries, k1, b)


def _tfidf(group: Group, queries: Sequence[str]) -> Scores:
    """TF-IDF cosine, fitted on the group's passages (the ECS paper's ACE)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    passages = vectorizer.fit_transform(group.texts)
    return (vectorizer.transform(queries) @ passages.T).toarray()


def _tfidf_question(group: Group, queries: Sequence[str]) -> Scores:
    """TF-IDF cosine with English stop words, fitted anew for each question on passages and question.

    Only idf changes from question to question, so the counts are made once.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(stop_words="english")
    counts = vectorizer.fit_transform([*group.texts, *queries]).astype(np.float64).tocsr()
    passages, asked = counts[: len(group.texts)], counts[len(group.texts) :]
    df, squared = np.asarray((passages > 0).sum(0)).ravel(), passages.multiply(passages).tocsr()
    n = len(group.texts) + 1
    rows = []
    for q in range(len(queries)):
        own = np.asarray(asked[q].todense()).ravel()
        idf = np.log((1 + n) / (1 + df + (own > 0))) + 1
        idf = np.where(df + (own > 0) > 0, idf, 0.0)
        norms = np.sqrt(squared @ idf**2)
        query = own * idf
        size = np.linalg.norm(query)
        rows.append((passages @ (idf * query)) / np.where(norms * size > 0, norms * size, 1.0))
    return np.array(rows).reshape(len(queries), len(group.texts))


# --- others ------------------------------------------------------------------------------------


def _dense(group: Group, queries: Sequence[str]) -> Scores:
    return (group.embed(queries) @ group.embed(group.texts).T).astype(np.float64)


def _zsum(group: Group, queries: Sequence[str], lexical: Mapping[str, Any]) -> Scores:
    return z_scores(score(group, queries, lexical, seed=0)) + z_scores(_dense(group, queries))


def _random(group: Group, queries: Sequence[str], seed: int) -> Scores:
    return np.random.default_rng(seed).random((len(queries), len(group.texts)))


def _recency(group: Group, queries: Sequence[str]) -> Scores:
    return np.tile(np.arange(len(group.texts), dtype=np.float64), (len(queries), 1))


def score(group: Group, queries: Sequence[str], spec: Mapping[str, Any], *, seed: int) -> Scores:
    """(questions, passages) scores of one scorer; its kind and parameters were checked with the configuration."""
    kind, rest = spec.get("kind"), {k: v for k, v in spec.items() if k != "kind"}
    functions: dict[str, Callable[..., Scores]] = {
        "random": lambda **k: _random(group, queries, seed, **k),
        "recency": lambda **k: _recency(group, queries, **k),
        "tfidf": lambda **k: _tfidf(group, queries, **k),
        "tfidf_question": lambda **k: _tfidf_question(group, queries, **k),
        "bm25": lambda **k: _bm25_okapi(group, queries, **k),
        "lucene": lambda **k: _lucene(group, queries, **k),
        "dense": lambda **k: _dense(group, queries, **k),
        "zsum": lambda **k: _zsum(group, queries, **k),
    }
    return functions[kind](**rest)
