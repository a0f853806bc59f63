"""Gold passages with a word of negation, quantity, comparison or order, and what became of these words."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from secateur.core.fields import key
from secateur.evaluation.evidence import Case

__all__ = ["Settings", "qualified", "qualifiers_of"]

_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True)
class Settings:
    """Which words qualify, and what counts as there."""

    words: tuple[str, ...] = key("words of negation, quantity, comparison and order, in lower case")
    min_content: float = key("as evidence_recall has it", low=0, high=1, default=0.5)


def qualifiers_of(text: str, words: frozenset[str]) -> frozenset[str]:
    """The words of a text that negate, count, compare or order: those listed, and whatever holds a digit.

    >>> sorted(qualifiers_of("It wasn't given before the 2nd of May.", frozenset({"before", "not"})))
    ['2nd', 'before', 'not']
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").lower()
    found = {"not" if word.endswith("n't") else word for word in _WORD.findall(plain)}
    return frozenset(w for w in found if w in words or any(c.isdigit() for c in w))


def qualified(case: Case, settings: Settings) -> Iterator[tuple[bool, bool]]:
    """(there, with all these words) of each gold passage that has one of them; nothing where provenance is not known."""
    listed = frozenset(settings.words)
    for passage, text in case.gold.passages.items() if case.traced else ():
        own = qualifiers_of(text, listed)
        if own:
            there = case.there(passage, settings.min_content)
            left = own - qualifiers_of(" ".join(case.lines.get(passage, ())), listed)
            yield there, there and not left
