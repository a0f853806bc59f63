"""BM25 as in rank_bm25's Okapi, with its idf floor and repeated query terms, as in published results."""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from secateur.core.fields import key
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


def _tokens(text: str) -> list[str]:
    """Stemmed words; stop words are dropped before stemming, as in published results."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [_snowball(w) for w in re.findall("[a-z0-9]+", text.lower()) if w not in ENGLISH_STOP_WORDS]


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """(questions, passages) scores of rank_bm25."""
    from rank_bm25 import BM25Okapi

    def build() -> BM25Okapi:
        return BM25Okapi([_tokens(t) for t in group.texts], k1=settings.k1, b=settings.b)

    index = group.once(("okapi", settings), build)
    return np.array([index.get_scores(_tokens(q)) for q in questions.queries]).reshape(
        len(questions.queries), len(group.texts)
    )
