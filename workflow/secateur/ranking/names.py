"""Names in running text, and their canonical form, under which equal names are one entity."""

import re
import unicodedata
from collections.abc import Iterator, Set
from functools import lru_cache

__all__ = ["canonical", "longest_spans", "names_in", "spans_of"]

_TOKEN = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*\.?|[^\w\s]")
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")
_POSSESSIVE = re.compile(r"['’]s\b")
_ARTICLE = re.compile(r"^(the|a|an) ")
INITIALS = 3  # letters and a full stop: "Jr.", "St.", "J.K." do not end a sentence


@lru_cache(maxsize=1 << 18)
def canonical(text: str) -> str:
    """A surface form without case, accents, punctuation, final parenthesis, possessive or leading article.

    >>> canonical("The Café's"), canonical("Free Guy (film)"), canonical("J. K. Rowling") == canonical("J.K. Rowling")
    ('cafe', 'free guy', True)
    """
    bare = unicodedata.normalize("NFKD", _PARENTHESIS.sub("", text).casefold())
    plain = "".join(c for c in bare if not unicodedata.combining(c))
    words = re.sub(r"[^\w]+", " ", _POSSESSIVE.sub("", plain)).strip()
    return _ARTICLE.sub("", words)


def names_in(text: str, joins: Set[str], skipped: Set[str]) -> list[str]:
    """Canonical names in a text, in order: spans of capitalised words, possibly joined by small words.

    joins: words that join two capitalised words ("of"). skipped: capitalised words that do not begin a name ("The", "May").

    >>> names_in("The University of Ghent hired Ann Lee for the 2012 Olympics in May.", {"of"}, {"the", "may"})
    ['university of ghent', 'ann lee', '2012 olympics']
    """
    names = (canonical(text[start:end]) for start, end in _spans(text, joins, skipped))
    return [name for name in names if len(name) > 1 and not name.replace(" ", "").isdigit()]


def _spans(text: str, joins: Set[str], skipped: Set[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) in characters of each span of capitalised words."""
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    place = 0
    while place < len(tokens):
        if not _begins([word for word, _, _ in tokens[place : place + 2]]):
            place += 1
            continue
        last = ahead = place
        while ahead + 1 < len(tokens) and not _ends_sentence(tokens[ahead][0]):
            word = tokens[ahead + 1][0]
            if word[0].isupper() or (word[0].isdigit() and last == ahead):
                last = ahead = ahead + 1
            elif word in joins:
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


def spans_of(text: str, names: Set[str], longest: int) -> list[str]:
    """All of some names that stand in the canonical form of a text, in order. longest: words of a name at most.

    >>> spans_of("Who directed the film Free Guy?", {"free guy", "guy"}, 5)
    ['free guy', 'guy']
    """
    words = canonical(text).split()
    spans = (" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, min(len(words), i + longest) + 1))
    return list(dict.fromkeys(span for span in spans if span in names))


def longest_spans(text: str, names: Set[str], longest: int) -> list[str]:
    """Those of some names that stand in a text, none inside another; single words only if capitalised and not first.

    >>> longest_spans("Did Ann Lee direct Free Guy before the fire?", {"free guy", "guy", "ann lee", "fire", "did"}, 5)
    ['ann lee', 'free guy']
    """
    words, spans, place = canonical(text).split(), [], 0
    capitals = {canonical(word) for word in text.split()[1:] if word[:1].isupper()}
    while place < len(words):
        ends = range(min(len(words), place + longest), place, -1)
        name = next(
            (n for end in ends if (n := " ".join(words[place:end])) in names and (" " in n or n in capitals)), ""
        )
        spans += [name] if name else []
        place += max(1, name.count(" ") + 1 if name else 1)
    return list(dict.fromkeys(spans))
