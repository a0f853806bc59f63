"""Entity-only consolidation, layer 1 (paper 2.7): alias groups over entity embeddings, then a remap.

Pairs come from an exact range graph; guards and complete link keep apart what only looks alike.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.guards import blocked_by, same_but_for_form
from secateur.graph.consolidation.screen import ROUNDING, Pairs, near_pairs

__all__ = ["Alias", "acronyms", "groups", "medoids", "range_pairs"]

BLOCK = 1024  # rows of a product


@dataclass(frozen=True)
class Alias:
    """Why an entity is shown as its representative."""

    entity: int
    representative: int
    cosine: float
    rule: str


def range_pairs(vectors: NDArray[np.float32], tau: float) -> Pairs:
    """All pairs i < j with cosine >= tau, exactly. vectors: (n, d), unit rows. Sorted by (i, j)."""
    order = np.arange(len(vectors))
    starts = range(0, len(vectors), BLOCK)
    tiles = ((slice(a, a + BLOCK), order[b : b + BLOCK]) for a in starts for b in starts if a <= b)
    return near_pairs(vectors, order, tau, tiles, scattered=True)


def acronyms(texts: Iterable[str]) -> dict[str, str]:
    """Acronym -> expansion where a text itself gives it: "Digital Services Act (DSA)" or "DSA (Digital Services Act)".

    An acronym with two different expansions is left out.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for match in re.finditer(r"\(([A-Z][A-Za-z]{1,7})\)", text):
            short, before = match[1], text[: match.start()].split()
            letters = [c for c in short if c.isupper()]
            phrase = _ending(before, letters)
            if phrase:
                found[short].add(phrase)
        for match in re.finditer(r"\b([A-Z]{2,8}) \(([^()]{4,80})\)", text):
            if _ending(match[2].split(), list(match[1])) == match[2]:
                found[match[1]].add(match[2])
    return {short: next(iter(long)) for short, long in found.items() if len({x.casefold() for x in long}) == 1}


SMALL_WORDS = ("of", "and", "for", "the", "in", "on", "to", "de", "la")


def _ending(words: Sequence[str], letters: Sequence[str]) -> str | None:
    """The shortest end of `words` whose initials, small words aside, are the letters."""
    if len(letters) < 2:
        return None
    for start in range(len(words) - 1, max(-1, len(words) - 2 * len(letters) - 2), -1):
        part = words[start:]
        initials = [w[0].upper() for w in part if w.casefold() not in SMALL_WORDS]
        if initials == [c.upper() for c in letters] and part[0].casefold() not in SMALL_WORDS:
            return " ".join(part)
    return None


class _Groups:
    """Disjoint groups; two join only if every pair across them may."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}

    def group(self, entity: int) -> list[int]:
        return self.members.setdefault(self.of.setdefault(entity, entity), [entity])

    def join(self, a: int, b: int) -> None:
        left, right = self.of[a], self.of[b]
        if left == right:
            return
        keep, gone = min(left, right), max(left, right)
        for entity in self.members.pop(gone):
            self.of[entity] = keep
            self.members[keep].append(entity)


def groups(
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    pairs: Pairs,
    *,
    link: float,
    guarded: bool,
    forced: Iterable[tuple[int, int]] = (),
    forbidden: Callable[[int, int], bool] = lambda a, b: False,
    short_forms: Iterable[tuple[int, int]] = (),
) -> tuple[list[list[int]], dict[int, str]]:
    """Alias groups with two members or more (sorted), and the rule by which each member joined.

    Forced pairs join first, then acronyms and equal normal forms, then pairs by falling cosine under complete link:
    every pair of a group has cosine >= `link`. Without `guarded` (the released code), components are joined as they are.
    """
    made, rule = _Groups(), {}

    def allowed(a: int, b: int, near: float) -> bool:
        if not guarded:
            return True
        across = [(x, y) for x in made.group(a) for y in made.group(b)]
        if any(forbidden(x, y) or blocked_by(texts[x], texts[y]) for x, y in across):
            return False
        return near == -1 or all(float(vectors[x] @ vectors[y]) >= near for x, y in across)

    def join(a: int, b: int, name: str, near: float) -> None:
        made.group(a), made.group(b)
        if made.of[a] != made.of[b] and (name == "forced" or allowed(a, b, near)):
            made.join(a, b)
            for entity in (a, b):
                rule.setdefault(entity, name)

    for a, b in forced:
        join(a, b, "forced", -1)
    if guarded:
        for a, b in short_forms:
            if not forbidden(a, b):
                made.group(a), made.group(b)
                made.join(a, b)
                rule.setdefault(a, "acronym")
                rule.setdefault(b, "acronym")
        by_form: dict[str, list[int]] = defaultdict(list)
        for entity, text in enumerate(texts):
            by_form[same_but_for_form(text)].append(entity)
        for same in by_form.values():
            for other in same[1:]:
                join(same[0], other, "form", -1)
    i, j, cosine = pairs
    for n in np.lexsort((j, i, -cosine)):
        join(int(i[n]), int(j[n]), "cosine", link)
    return sorted(sorted(m) for m in made.members.values() if len(m) > 1), rule


def medoids(vectors: NDArray[np.float32], members: Sequence[Sequence[int]]) -> list[int]:
    """The representative of each group: argmax of x . (sum of its group), exact for cosine (lemma 11); ties, as of any two,
    to the earlier id, whatever the last bits of their sums."""
    found = []
    for group in members:
        central = vectors[list(group)] @ vectors[list(group)].sum(0)
        found.append(int(group[int(np.argmax(central >= central.max() - ROUNDING * len(group)))]))
    return found
