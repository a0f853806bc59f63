"""Qualifiers of gold passages, words of negation, quantity, comparison and order, and whether a context keeps them."""

from collections.abc import Iterator
from dataclasses import dataclass

from secateur.core.fields import key
from secateur.evaluation.evidence import Case
from secateur.models.words import with_apostrophes

__all__ = ["Settings", "qualified", "qualifiers_of"]


@dataclass(frozen=True)
class Settings:
    """The qualifiers, and the share of content words that counts as held."""

    words: tuple[str, ...] = key("words of negation, quantity, comparison and order, in lower case")
    min_content: float = key("as in evidence_recall", low=0, high=1, default=0.5)


def qualifiers_of(text: str, words: frozenset[str]) -> frozenset[str]:
    """Qualifiers in a text: the listed words, and words with a digit.

    >>> sorted(qualifiers_of("It wasn't given before the 2nd of May.", frozenset({"before", "not"})))
    ['2nd', 'before', 'not']
    """
    tokens = {"not" if word.endswith("n't") else word for word in with_apostrophes(text)}
    return frozenset(w for w in tokens if w in words or any(c.isdigit() for c in w))


def qualified(case: Case, settings: Settings) -> Iterator[tuple[bool, bool]]:
    """Yield (held, held with all its qualifiers) for each gold passage with a qualifier; nothing without provenance."""
    listed = frozenset(settings.words)
    for passage, text in case.gold.passages.items() if case.traceable else ():
        qualifiers = qualifiers_of(text, listed)
        if qualifiers:
            is_held = case.holds(passage, settings.min_content)
            shown = qualifiers_of(" ".join(case.lines.get(passage, ())), listed)
            missing = frozenset() if passage in case.whole else qualifiers - shown
            yield is_held, is_held and not missing
