"""Guards: surface forms that are never merged, however similar their embeddings."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import zip_longest

from secateur.models.units import stem
from secateur.models.words import words

__all__ = ["blocked_by", "distinctive_tokens", "is_same_word_for_word", "normal_form"]

_ROMAN = re.compile(r"^(?=[ivxlc])(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$")  # to 99
_SIGN = re.compile(r"(?<![^\s(\[])[-−–](?=\.?\d)|(?<=[^\W_])[+#−]+(?!\w)")  # -7 °C, C++, F#, Cl−; +5 is 5
_SYMBOL = re.compile(r"[<>≤≥=≠~≈±%‰$€£¥^]|(?<=\d)[^\w\s](?=\d)")  # 10^3, 3:1, 1.2
WORDS = {  # of a word in two categories, the later wins
    "number": (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
        "billion trillion half dozen first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth "
        "sixtieth seventieth eightieth ninetieth hundredth thousandth last primary secondary tertiary"
    ),
    "date": (
        "january february march april may june july august september october november december monday tuesday "
        "wednesday thursday friday saturday sunday spring summer autumn fall winter "
        "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
    ),
    "polarity": (
        "no not non never without neither nor none anti pro un dis mis positive negative increase decrease increased "
        "decreased high low higher lower more less most least before after early late earlier later maximum minimum "
        "max min benign malignant acute chronic male female man woman men women boy girl father mother son daughter "
        "brother sister husband wife king queen internal external inner outer hot cold old new young true false major "
        "minor hyper hypo pre post inter intra maternal paternal systolic diastolic agonist antagonist afferent efferent "
        "proximal distal superior inferior medial lateral ascending descending parent child import export input output "
        "buyer seller employer employee sender receiver plaintiff defendant creditor debtor profit loss gain winner loser "
        "increasing decreasing highest lowest largest smallest best worst oldest youngest earliest latest minimal maximal "
        "majority minority ascent descent senior junior elder younger sr jr prince princess duke duchess grandfather "
        "grandmother uncle aunt actor actress guilty innocent lessor lessee licensor licensee mortgagor mortgagee payer payee "
        "borrower lender landlord tenant asset liability debit credit gross net supply demand public private domestic "
        "foreign aerobic anaerobic immigration emigration inflation deflation encoder decoder small large bc ad bce"
    ),
    "direction": (
        "north south east west northern southern eastern western northeast northwest southeast southwest "
        "northeastern northwestern southeastern southwestern left right "
        "upper lower top bottom front back up down inside outside anterior posterior dorsal ventral"
    ),
}
ARTICLES = frozenset({"the", "a", "an"})
CATEGORY = {word: category for category, words in WORDS.items() for word in words.split()}
# Prefixes of opposites: before the same rest they make two words of one.
OPPOSITES = """hyper hypo normo; pre post; ante post; inter intra extra; macro micro; endo exo ecto; tachy brady; homo hetero
    mono uni bi di tri poly multi; ipsi contra; over under; up down; in ex out; im ex; ad ab; af ef; sub super supra; pro anti"""
OPPOSED = [group.split() for group in OPPOSITES.replace("\n", ";").split(";")]
PREFIXES = (
    "non",
    "anti",
    "ant",
    "un",
    "hyper",
    "hypo",
    "pre",
    "post",
    "inter",
    "intra",
    "dis",
    "in",
    "im",
    "il",
    "ir",
    "a",
)


@lru_cache(maxsize=1 << 18)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(words(text, None))


def _category(token: str) -> str | None:
    """Category of a distinctive token: number, date, polarity, direction, marker (Roman numeral) or single letter."""
    if any(c.isdigit() for c in token):
        return "number"
    if token in CATEGORY or stem(token) in CATEGORY:
        return CATEGORY.get(token) or CATEGORY[stem(token)]
    if len(token) == 1:
        return "single letter"
    return "marker" if _ROMAN.match(token) else None


@lru_cache(maxsize=1 << 18)
def distinctive_tokens(text: str) -> tuple[tuple[str, str], ...]:
    """(category, token) pairs in order, on which two forms of one entity must agree; signs and symbols, no words, last."""
    tokens = tuple(
        (category, token if token in CATEGORY or stem(token) not in CATEGORY else stem(token))
        for token in _tokens(text)
        if (category := _category(token))
    )
    signs = (*_SIGN.findall(text), *_SYMBOL.findall(text))
    return tokens + tuple(("sign", re.sub("[−–]", "-", sign)) for sign in signs)


def blocked_by(left: str, right: str, words_apart: Collection[str] = ()) -> str | None:
    """The guard that forbids merging two surface forms, or None.

    Distinctive tokens must be equal and in the same order, and a contrasting prefix must be on both forms or neither.
    words_apart: more words on which they must agree.

    >>> blocked_by("Type 1 diabetes", "Type 2 diabetes")
    'number'
    >>> blocked_by("North Korea", "South Korea")
    'direction'
    >>> blocked_by("−18 °C", "18 °C"), blocked_by("p < .05", "p > .05")
    ('sign', 'sign')
    >>> blocked_by("Hyperthyroidism", "Hypothyroidism"), blocked_by("receptor agonist", "receptor antagonist")
    ('polarity', 'polarity')
    >>> blocked_by("the contract", "contracts") is None
    True
    """
    if words_apart and _listed(left, words_apart) != _listed(right, words_apart):
        return "listed word"
    for a, b in zip_longest(distinctive_tokens(left), distinctive_tokens(right)):
        if a != b:
            return (a or b)[0]
    return "polarity" if _differ_in_prefix(left, right) else None


def _listed(text: str, listed: Collection[str]) -> list[str]:
    return [token for token in _tokens(text) if token in listed]


@lru_cache(maxsize=1 << 18)
def _opposed(word: str, other: str) -> bool:
    """Whether two words are one word with prefixes of opposites."""
    for group in OPPOSED:
        ends = [
            {(prefix, form[len(prefix) :]) for prefix in group if form.startswith(prefix)} for form in (word, other)
        ]
        if any(end == left and a != b and len(end) > 2 for a, end in ends[0] for b, left in ends[1]):
            return True
    return False


def _differ_in_prefix(left: str, right: str) -> bool:
    """True if a word of one form is a word of the other with a contrasting prefix."""
    a, b = set(_tokens(left)), set(_tokens(right))
    if any(_opposed(word, other) for word in a - b for other in b - a):
        return True
    return any(
        word.startswith(prefix) and word[len(prefix) :] in other
        for words, other in ((a - b, b), (b - a, a))
        for word in words
        for prefix in PREFIXES
    )


@lru_cache(maxsize=1 << 18)
def _capitalised(text: str) -> frozenset[str]:
    """The words of a text that begin with a capital; an ending may be part of such a name, as in Williams."""
    return frozenset(word.casefold() for word in re.findall(r"[^\W\d_]\w*", text) if word[0].isupper())


def is_same_word_for_word(left: str, right: str) -> bool:
    """Whether two texts of one normal form differ in case, marks, determiners and plurals of common words alone.

    >>> is_same_word_for_word("The contract", "contracts"), is_same_word_for_word("William", "Williams")
    (True, False)
    """
    names = _capitalised(left) | _capitalised(right)
    return names.isdisjoint((set(_tokens(left)) ^ set(_tokens(right))) - ARTICLES)


@lru_cache(maxsize=1 << 18)
def normal_form(text: str) -> str:
    """Text without case, punctuation, determiners and plural endings.

    >>> normal_form("The Brown-Bears")
    'brown bear'
    """
    words = [stem(t) for t in _tokens(text) if t not in ARTICLES]
    return " ".join(words) or text
