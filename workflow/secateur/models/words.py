"""Content words, as evidence metrics count them."""

import re
import unicodedata
from functools import cache, lru_cache

__all__ = ["content_words", "stem", "word_list"]

_WORD = re.compile(r"[a-z0-9]+")


@cache
def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


def stem(word: str) -> str:
    """Harman's S-stemmer (1991): plural endings only.

    >>> [stem(w) for w in ("ponies", "caresses", "bears", "gas", "focus")]
    ['pony', 'caresse', 'bear', 'ga', 'focus']
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


@lru_cache(maxsize=1 << 18)
def _counted(word: str) -> str:
    """A word's stem, one shared string; empty for stop words and single characters."""
    return stem(word) if len(word) >= 2 and word not in _stop_words() else ""


@lru_cache(maxsize=1 << 18)
def word_list(text: str) -> tuple[str, ...]:
    """Content words in order, with repeats: NFKC, lower case, [a-z0-9]+, two characters or more, S-stemmed.

    scikit-learn's English stop words are left out.
    """
    words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
    return tuple(filter(None, map(_counted, words)))


@lru_cache(maxsize=1 << 18)
def content_words(text: str) -> frozenset[str]:
    """Distinct content words of a text."""
    return frozenset(word_list(text))
