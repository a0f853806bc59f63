"""BM25 as in rank_bm25's Okapi, with its idf floor and repeated query terms, as in published results.

Their words are [a-z0-9]+. Where most letters of the passages are outside Latin, words are those of models/words.py.
"""

import re
from dataclasses import dataclass
from functools import cache
from unicodedata import normalize

import numpy as np

from secateur.core.fields import key
from secateur.models.words import words
from secateur.ranking.group import Group, Questions, Scores


@dataclass(frozen=True)
class Settings:
    """Parameters of BM25."""

    k1: float = key("term saturation", low=0)
    b: float = key("length normalisation", low=0, high=1)


@cache
def _stemmer():
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


@cache
def _snowball(word: str) -> str:
    return _stemmer().stem(word)


def _tokens(text: str, published: bool) -> list[str]:
    """Stemmed words; stop words are dropped before stemming, as in published results."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    tokens = re.findall("[a-z0-9]+", normalize("NFC", text).lower()) if published else words(text)
    return [_snowball(w) if w.isascii() else w for w in tokens if w not in ENGLISH_STOP_WORDS]


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) scores of rank_bm25."""
    from rank_bm25 import BM25Okapi

    published, shape = not group.is_outside_latin, (len(questions.queries), len(group.texts))

    def build() -> BM25Okapi | None:
        tokens = [_tokens(t, published) for t in group.texts]
        return BM25Okapi(tokens, k1=settings.k1, b=settings.b) if any(tokens) else None

    index = group.once(("okapi", settings), build)
    if index is None:  # no passage has a word
        return np.zeros(shape)
    return np.array([index.get_scores(_tokens(q, published)) for q in questions.queries]).reshape(shape)
