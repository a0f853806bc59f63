"""Layer 2 of consolidation (paper 2.7): fewer entities where there are more than a memory budget allows.

Its regions are the connected components of the range graph at the floor, among entities with the same distinctive
tokens: whatever two may merge lie in one region, and nothing is compared across regions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.groups import medoids
from secateur.graph.consolidation.guards import distinctive
from secateur.graph.consolidation.kmeans import clusters, proportional
from secateur.graph.consolidation.screen import Pairs

__all__ = ["Budget", "compress", "same_tokens"]

Members = dict[int, list[int]]  # representative -> its group, itself included


@dataclass(frozen=True)
class Budget:
    """entities: how many may remain; floor: the least cosine to a representative; seed and iterations of k-means."""

    entities: int
    floor: float
    iterations: int
    seed: int


def same_tokens(texts: Sequence[str], pairs: Pairs) -> Pairs:
    """The pairs whose forms agree in numbers, dates, polarity, direction and markers."""
    number: dict[tuple, int] = {}
    kind = np.array([number.setdefault(distinctive(text), len(number)) for text in texts], np.int64)
    keep = kind[pairs[0]] == kind[pairs[1]]
    return tuple(part[keep] for part in pairs)


def compress(
    vectors: NDArray[np.float32],
    pairs: Pairs,
    members: Mapping[int, list[int]],
    budget: Budget,
    blocked: Callable[[int, int], bool],
) -> Members:
    """The groups after k-means inside each region, until the budget is met or nothing more may merge.

    vectors: (n, d) unit rows; pairs: the range graph at the floor; members: the groups of layer 1, single entities
    too. Each new representative is the medoid of its group (lemma 11) and has cosine >= floor to every member.
    """
    found, before = dict(members), len(members) + 1
    while budget.entities < len(found) < before:
        before = len(found)
        regions = _regions(pairs, found, len(vectors))
        sizes = [len(region) for region in regions]
        room = budget.entities - (before - sum(sizes))  # what is left beside the entities outside regions
        for region, k in zip(regions, proportional(sizes, room), strict=True):
            for cluster in _clusters(vectors, region, k, budget):
                _merge(vectors, found, cluster, budget.floor, blocked)
    return found


def _regions(pairs: Pairs, members: Members, count: int) -> list[NDArray[np.int64]]:
    """Representatives by component of the range graph, components of two and more only, by first member."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    alive = np.zeros(count, bool)
    alive[list(members)] = True
    keep = alive[pairs[0]] & alive[pairs[1]]
    i, j = pairs[0][keep], pairs[1][keep]
    _, label = connected_components(coo_matrix((np.ones(len(i), bool), (i, j)), shape=(count, count)), directed=False)
    linked = np.unique(np.concatenate([i, j]))
    order = linked[np.argsort(label[linked], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []


def _clusters(vectors: NDArray[np.float32], region: NDArray[np.int64], k: int, budget: Budget) -> Iterator[list[int]]:
    """Spherical k-means of one region; clusters of two and more."""
    if k == len(region):
        return
    label = clusters(vectors[region], k, budget.iterations, budget.seed)
    order = np.argsort(label, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(places) > 1:
            yield region[places].tolist()


def _merge(vectors: NDArray[np.float32], members: Members, cluster: list[int], floor: float, blocked) -> None:
    """Join the groups of a cluster that may join; those that may not stay as they are."""
    groups: list[list[int]] = []
    for group in (members[r] for r in cluster):
        if not any(blocked(a, b) for other in groups for a in other for b in group):
            groups.append(group)
    while len(groups) > 1:
        joined = sorted(entity for group in groups for entity in group)
        (keep,) = medoids(vectors, [joined])
        near = [group for group in groups if float((vectors[group] @ vectors[keep]).min()) >= floor]
        if len(near) == len(groups):
            gone = set(joined)
            for representative in [r for r in cluster if r in gone]:
                del members[representative]
            members[keep] = joined
            return
        groups = near  # the medoid of those left may be another
