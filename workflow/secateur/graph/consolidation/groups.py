"""Layer 1 of consolidation (paper 2.7): alias groups over entity embeddings.

Candidate pairs come from an exact range graph; guards and complete link prevent false merges.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.guards import blocked_by, is_same_word_for_word, normal_form
from secateur.graph.consolidation.screen import ROUNDING, Pairs, near_pairs

__all__ = ["alias_groups", "medoids", "range_pairs"]

BLOCK = 1024  # rows of a matrix product


def range_pairs(vectors: NDArray[np.float32], tau: float) -> Pairs:
    """All pairs i < j with cosine >= tau, exactly. vectors: (n, d), unit rows. Sorted by (i, j)."""
    order = np.arange(len(vectors))
    starts = range(0, len(vectors), BLOCK)
    tiles = ((slice(a, a + BLOCK), order[b : b + BLOCK]) for a in starts for b in starts if a <= b)
    return near_pairs(vectors, order, tau, tiles, scattered=True)


def alias_groups(
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    pairs: Pairs,
    *,
    link: float,
    guarded: bool,
    forced: Iterable[tuple[int, int]] = (),
    forbidden: Collection[frozenset[int]] = (),
    short_forms: Iterable[tuple[int, int]] = (),
    apart: Collection[str] = (),
) -> tuple[list[list[int]], dict[int, str]]:
    """(sorted alias groups of two or more entities, the rule by which each member joined).

    Forced pairs join first, then acronyms and equal normal forms (under complete link where a name differs in its ending),
    then pairs by falling cosine under complete link: every pair of a group has cosine >= `link`. Without `guarded` (the
    released code), whole components are joined. No group has a pair of `forbidden`. apart: more words on
    which members must agree.
    """
    from scipy.cluster.hierarchy import DisjointSet

    groups, rules = DisjointSet(range(len(texts))), {}

    def forbids(a: int, b: int) -> bool:
        ends = {groups[a], groups[b]}
        return any({groups[n] for n in pair} == ends for pair in forbidden)

    def alike(a: int, b: int, least: float) -> bool:
        across = [(x, y) for x in groups.subset(a) for y in groups.subset(b)]
        if any(blocked_by(texts[x], texts[y], apart) for x, y in across):
            return False
        return least == -1 or all(float(vectors[x] @ vectors[y]) >= least for x, y in across)

    def join(a: int, b: int, rule: str) -> None:
        if not groups.connected(a, b) and not forbids(a, b):
            groups.merge(a, b)
            for entity in (a, b):
                rules.setdefault(entity, rule)

    def join_alike(a: int, b: int, rule: str, least: float) -> None:
        if not guarded or groups.connected(a, b) or alike(a, b, least):
            join(a, b, rule)

    for a, b in forced:
        join(a, b, "forced")
    if guarded:
        for a, b in short_forms:
            join(a, b, "acronym")
        by_form: dict[str, list[int]] = defaultdict(list)
        for entity, text in enumerate(texts):
            by_form[normal_form(text)].append(entity)
        for same in by_form.values():
            for n, other in enumerate(same):
                for first in same[:n]:
                    join_alike(first, other, "form", -1 if is_same_word_for_word(texts[first], texts[other]) else link)
    i, j, cosine = pairs
    for n in np.lexsort((j, i, -cosine)):
        join_alike(int(i[n]), int(j[n]), "cosine", link)
    return sorted(sorted(group) for group in groups.subsets() if len(group) > 1), rules


def medoids(vectors: NDArray[np.float32], members: Sequence[Sequence[int]]) -> list[int]:
    """Representative of each group: argmax of x . (sum of the group), exact for cosine (lemma 11).

    Ties within rounding, such as in any pair, go to the earlier member.
    """
    representatives = []
    for group in members:
        central = vectors[list(group)] @ vectors[list(group)].sum(0)
        representatives.append(int(group[int(np.argmax(central >= central.max() - ROUNDING * len(group)))]))
    return representatives
