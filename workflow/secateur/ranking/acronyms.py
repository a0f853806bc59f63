"""Acronyms that a text expands."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import regex

__all__ = ["acronyms"]

SMALL_WORDS = ("of", "and", "for", "the", "in", "on", "to", "de", "la")


def acronyms(texts: Iterable[str]) -> dict[str, str]:
    """Expansions by acronym, from texts such as "Digital Services Act (DSA)" or "DSA (Digital Services Act)".

    An acronym with two different expansions is omitted; of forms that differ in case, the first is taken.
    """
    expansions: dict[str, dict[str, str]] = defaultdict(dict)  # by acronym, then case-folded
    for text in texts:
        for match in regex.finditer(r"\((\p{Lu}\p{L}{1,7})\)", text):
            capitals = [c for c in match[1] if c.isupper()]
            if phrase := _expansion(text[: match.start()].split(), capitals):
                expansions[match[1]].setdefault(phrase.casefold(), phrase)
        for match in regex.finditer(r"\b(\p{Lu}{2,8}) \(([^()]{4,80})\)", text):
            if _expansion(match[2].split(), match[1]) == match[2]:
                expansions[match[1]].setdefault(match[2].casefold(), match[2])
    return {short: next(iter(forms.values())) for short, forms in expansions.items() if len(forms) == 1}


def _expansion(words: Sequence[str], letters: Sequence[str]) -> str | None:
    """The shortest tail of `words` whose initials, small words aside, are the letters; else None."""
    if len(letters) < 2:
        return None
    for start in range(len(words) - 1, max(-1, len(words) - 2 * len(letters) - 2), -1):
        part = words[start:]
        initials = [w[0].upper() for w in part if w.casefold() not in SMALL_WORDS]
        if initials == [c.upper() for c in letters] and part[0].casefold() not in SMALL_WORDS:
            return " ".join(part)
    return None
