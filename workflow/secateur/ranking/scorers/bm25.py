"""BM25 as rank_bm25's Okapi has it, its idf floor included; query terms with multiplicity: the published rows."""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from secateur.core.fields import key
from secateur.ranking.group import Asked, Group, Scores


@dataclass(frozen=True)
class Settings:
    """BM25's parameters."""

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
    """Stop words dropped first, then Snowball: the order matters for the published rows."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [_snowball(w) for w in re.findall("[a-z0-9]+", text.lower()) if w not in ENGLISH_STOP_WORDS]


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """rank_bm25's scores."""
    from rank_bm25 import BM25Okapi

    def made() -> BM25Okapi:
        return BM25Okapi([_tokens(t) for t in group.texts], k1=settings.k1, b=settings.b)

    index = group.once(("okapi", settings), made)
    return np.array([index.get_scores(_tokens(q)) for q in asked.queries]).reshape(len(asked.queries), len(group.texts))
