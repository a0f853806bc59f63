"""Which two surface forms may never be one entity, however close their embeddings are."""

import re
import unicodedata
from functools import lru_cache
from itertools import zip_longest

from secateur.models.words import stem

__all__ = ["blocked_by", "distinctive", "same_but_for_form"]

_TOKEN = re.compile(r"[^\W_]+", re.UNICODE)
_ROMAN = re.compile(r"^(?=[ivx])x{0,3}(ix|iv|v?i{0,3})$")
_NUMBER_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
    "billion",
    "half",
    "dozen",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "last",
    "primary",
    "secondary",
    "tertiary",
)
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
)
_POLARITY = (
    "no",
    "not",
    "non",
    "never",
    "without",
    "neither",
    "nor",
    "none",
    "anti",
    "pro",
    "un",
    "dis",
    "mis",
    "positive",
    "negative",
    "increase",
    "decrease",
    "increased",
    "decreased",
    "high",
    "low",
    "higher",
    "lower",
    "more",
    "less",
    "most",
    "least",
    "before",
    "after",
    "early",
    "late",
    "earlier",
    "later",
    "maximum",
    "minimum",
    "max",
    "min",
    "benign",
    "malignant",
    "acute",
    "chronic",
    "male",
    "female",
    "man",
    "woman",
    "men",
    "women",
    "boy",
    "girl",
    "father",
    "mother",
    "son",
    "daughter",
    "brother",
    "sister",
    "husband",
    "wife",
    "king",
    "queen",
    "internal",
    "external",
    "inner",
    "outer",
    "hot",
    "cold",
    "old",
    "new",
    "young",
    "true",
    "false",
    "major",
    "minor",
    "hyper",
    "hypo",
    "pre",
    "post",
    "inter",
    "intra",
)
_DIRECTION = (
    "north",
    "south",
    "east",
    "west",
    "northern",
    "southern",
    "eastern",
    "western",
    "northeast",
    "northwest",
    "southeast",
    "southwest",
    "left",
    "right",
    "upper",
    "lower",
    "top",
    "bottom",
    "front",
    "back",
    "up",
    "down",
    "inside",
    "outside",
    "anterior",
    "posterior",
    "dorsal",
    "ventral",
)
MARKED = {
    **dict.fromkeys(_NUMBER_WORDS, "number"),
    **dict.fromkeys(_MONTHS, "date"),
    **dict.fromkeys(_POLARITY, "polarity"),
    **dict.fromkeys(_DIRECTION, "direction"),
}
PREFIXES = ("non", "anti", "un", "hyper", "hypo", "pre", "post", "inter", "intra", "dis")


@lru_cache(maxsize=1 << 18)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))


def _kind(token: str) -> str | None:
    """Why a token distinguishes by itself: a number, a date, a polarity, a direction, a marker, a single letter."""
    if any(c.isdigit() for c in token):
        return "number"
    if token in MARKED:
        return MARKED[token]
    if len(token) == 1:
        return "single letter"
    return "marker" if _ROMAN.match(token) else None


@lru_cache(maxsize=1 << 18)
def distinctive(text: str) -> tuple[tuple[str, str], ...]:
    """(kind, token) of the tokens in which two forms of one entity must agree, in order."""
    return tuple((kind, t) for t in _tokens(text) if (kind := _kind(t)))


def blocked_by(left: str, right: str) -> str | None:
    """The guard that forbids merging two surface forms, or None (section 5 of the method).

    Distinctive tokens must be the same in the same order; a negating or contrasting prefix must be on both or on
    neither.

    >>> blocked_by("Type 1 diabetes", "Type 2 diabetes")
    'number'
    >>> blocked_by("North Korea", "South Korea")
    'direction'
    >>> blocked_by("the contract", "contracts") is None
    True
    """
    one, two = distinctive(left), distinctive(right)
    if one != two:
        first = next((a or b for a, b in zip_longest(one, two) if a != b), None)
        return first[0] if first else "number"
    return "polarity" if _prefixed(left, right) else None


def _prefixed(left: str, right: str) -> bool:
    """Whether one form has a word that is a word of the other with a contrasting prefix."""
    one, two = set(_tokens(left)), set(_tokens(right))
    for mine, other in ((one - two, two), (two - one, one)):
        if any(w.startswith(p) and w[len(p) :] in other for w in mine for p in PREFIXES):
            return True
    return False


@lru_cache(maxsize=1 << 18)
def same_but_for_form(text: str) -> str:
    """A key that is equal for forms differing only in case, punctuation, determiners or plural endings.

    >>> same_but_for_form("The Brown-Bears") == same_but_for_form("brown bear")
    True
    """
    words = [stem(t) for t in _tokens(text) if t not in ("the", "a", "an")]
    return " ".join(words) or text
