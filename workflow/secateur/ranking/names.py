"""Names in running text, and their canonical form, under which equal names are one entity.

Capitals mark names. Scripts without capitals mark fewer: names in quotation marks, and katakana, which writes foreign ones.
"""

import re
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache

import regex

from secateur.models.units import unit_spans
from secateur.models.words import UNSPACED, WORD_CHARACTER, folded, is_cased

__all__ = ["canonical", "longest_spans", "name_spans", "names_in", "spans_of", "stands_alone"]

_ELIDED = r"\p{Ll}{1,4}['’](?=\p{Lu})"  # the d' of d'Artagnan, the l' of l'Oréal
_PART = rf"[[\p{{L}}\p{{N}}]--{UNSPACED}][\p{{L}}\p{{M}}\p{{N}}--{UNSPACED}]*"
_TOKEN = regex.compile(
    rf"(?V1){_ELIDED}|{_PART}(?:[.'’&-]{_PART})*\.?|{UNSPACED}+|[^\p{{L}}\p{{M}}\p{{N}}_\s\x1c-\x1f]"
)
_MARKED = regex.compile(
    r"(?V1)[「『《〈“«](?P<name>[^「」『』《》〈〉“”«»]{2,40})[」』》〉”»]|(?P<name>[\p{Katakana}ー]{2,}(?:[・＝][\p{Katakana}ー]+)*)"
)
_ACCENT = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}]\p{M}*)\p{Mn}")
_QUOTES = "[\"'“”„‘’«»‹›]"
_LEAD = regex.compile(rf"^{_QUOTES}*(?:{_ELIDED})?")  # before a name
_QUOTED = regex.compile(rf"{_QUOTES}\S+{_QUOTES}")
_BETWEEN = regex.compile(rf"[^{WORD_CHARACTER[1:-1]}]+")
_UNSPACED = regex.compile(rf"(?V1){UNSPACED}")
_PARENTHESIS = re.compile(r"\s*[(（][^)）]*[)）]\s*$")
_AND = re.compile(r"(?<=\w)\s&\s(?=\w)")
_PLAIN = str.maketrans(dict(zip("łøđðıþæœ", ["l", "o", "d", "d", "i", "th", "ae", "oe"], strict=True)))  # not accents
_POSSESSIVE = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"^(the|a|an) ")
INITIALS = 3  # letters and a full stop: "Jr.", "St.", "J.K." do not end a sentence
CHARACTERS = 3  # of a script without blanks, about as long as a word


@lru_cache(maxsize=1 << 18)
def canonical(text: str) -> str:
    """A surface form without case, accents, punctuation, final parenthesis, possessive or leading article.

    Marks stay where they are no accents but part of a letter, as in Devanagari and kana.

    >>> canonical("The Café's"), canonical("Free Guy (film)"), canonical("J. K. Rowling") == canonical("J.K. Rowling")
    ('cafe', 'free guy', True)
    >>> canonical("Łukasz & Sons") == canonical("Lukasz and Sons")
    True
    """
    plain = _AND.sub(" and ", folded(_PARENTHESIS.sub("", text)))
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", plain))).translate(_PLAIN)
    words = _BETWEEN.sub(" ", _POSSESSIVE.sub("", plain)).strip()
    return _ARTICLE.sub("", words)


def names_in(text: str, joins: Set[str], skipped: Set[str]) -> list[str]:
    """Canonical names in a text, in order: spans of capitalised words, possibly joined by small words.

    joins: words that join two capitalised words ("of"). skipped: capitalised words that do not begin a name ("The", "May").

    >>> names_in("The University of Ghent hired Ann Lee for the 2012 Olympics in May.", {"of"}, {"the", "may"})
    ['university of ghent', 'ann lee', '2012 olympics']
    """
    text = unicodedata.normalize("NFC", text)
    spans = list(name_spans(text, joins, skipped))
    if not text.isascii():
        marked = (match.span("name") for match in _MARKED.finditer(text))
        spans = sorted([*spans, *(span for span in marked if not is_cased(text[slice(*span)]))])
    names = (canonical(text[start:end]) for start, end in spans)
    return [name for name in names if len(name) > 1 and not name.replace(" ", "").isdigit()]


def name_spans(text: str, joins: Set[str], skipped: Set[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) in characters of each span of capitalised words."""
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    place = 0
    while place < len(tokens):
        if not _begins([word for word, _, _ in tokens[place : place + 2]]):
            place += 1
            continue
        last = ahead = place
        while ahead + 1 < len(tokens) and not _ends_sentence(tokens[ahead][0]):
            word, start, _ = tokens[ahead + 1]
            if "\n" in text[tokens[ahead][2] : start]:
                break
            if word[0].isupper() or (word[0].isdigit() and last == ahead):
                last = ahead = ahead + 1
            elif word in joins or word[1:].endswith(("'", "’")):  # elided
                ahead += 1
            else:
                break
        first = next((n for n in range(place, last + 1) if canonical(tokens[n][0]) not in skipped), None)
        if first is not None:
            yield tokens[first][1], tokens[last][2]
        place = last + 1


def _begins(words: list[str]) -> bool:
    """Whether a name begins here: with a capital, or with a number before one."""
    return words[0][0].isupper() or (words[0][0].isdigit() and len(words) > 1 and words[1][0].isupper())


def _ends_sentence(word: str) -> bool:
    return word.endswith(".") and len(word) > INITIALS


def stands_alone(name: str) -> bool:
    """Whether a canonical name is one wherever it stands: several words, or in a script where no capital can tell.

    >>> stands_alone("free guy"), stands_alone("guy"), stands_alone("茶厂"), stands_alone("茶")
    (True, False, True, False)
    """
    return " " in name or (len(name) > 1 and not is_cased(name) and any(map(str.isalpha, name)))


def _starts(text: str, longest: int) -> Iterator[list[str]]:
    """For each word of a canonical text, the spans that begin there, shortest first. longest: in words."""
    units = [(start, end, 1 / CHARACTERS if _UNSPACED.match(unit) else 1) for unit, start, end in unit_spans(text)]
    for place, (start, _, _) in enumerate(units):
        spans, size = [], 0.0
        for _, end, words in units[place:]:
            size += words
            if size > longest + 1e-6:
                break
            spans.append(text[start:end])
        yield spans


def spans_of(text: str, names: Set[str], longest: int) -> list[str]:
    """All of some names that stand in the canonical form of a text, in order. longest: words of a name at most.

    >>> spans_of("Who directed the film Free Guy?", {"free guy", "guy"}, 5), spans_of("谁创办茶厂？", {"茶厂"}, 5)
    (['free guy', 'guy'], ['茶厂'])
    """
    spans = (span for spans in _starts(canonical(text), longest) for span in spans)
    return list(dict.fromkeys(span for span in spans if span in names))


def longest_spans(text: str, names: Set[str], longest: int) -> list[str]:
    """Those of some names that stand in a text, none inside another; single words only if capitalised, and quoted if first.

    >>> longest_spans("Did Ann Lee direct Free Guy before the fire?", {"free guy", "guy", "ann lee", "fire", "did"}, 5)
    ['ann lee', 'free guy']
    """
    words = (_LEAD.sub("", word) for word in text.split()[0 if _QUOTED.match(text) else 1 :])
    capitals = {canonical(word) for word in words if word[:1].isupper()}
    longest_names, free = [], 0
    for place, spans in enumerate(_starts(canonical(text), longest)):
        names_here = [(n, s) for n, s in enumerate(spans, 1) if s in names and (stands_alone(s) or s in capitals)]
        if place >= free and names_here:
            size, name = names_here[-1]
            longest_names, free = [*longest_names, name], place + size
    return list(dict.fromkeys(longest_names))
