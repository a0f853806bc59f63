"""Layer 2 of consolidation (paper 2.7): k-means inside regions, until the entities fit a budget.

Regions are the connected components of the range graph at the floor, among entities with equal distinctive tokens. Two
entities that may merge lie in one region, so nothing is compared across regions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.graph.consolidation.groups import medoids
from secateur.graph.consolidation.guards import distinctive_tokens
from secateur.graph.consolidation.kmeans import clusters, proportional
from secateur.graph.consolidation.screen import Pairs

__all__ = ["Budget", "Members", "compress", "same_tokens"]

Members = dict[int, list[int]]  # entities of each group, by representative


@dataclass(frozen=True)
class Budget:
    """Largest number of entities, lowest cosine to a representative, and iterations and seed of k-means."""

    entities: int
    floor: float
    iterations: int
    seed: int


def same_tokens(texts: Sequence[str], pairs: Pairs) -> Pairs:
    """Pairs with equal distinctive tokens."""
    ids: dict[tuple, int] = {}
    token_id = np.array([ids.setdefault(distinctive_tokens(text), len(ids)) for text in texts], np.int64)
    equal = token_id[pairs[0]] == token_id[pairs[1]]
    return tuple(part[equal] for part in pairs)


def compress(
    vectors: NDArray[np.float32],
    pairs: Pairs,
    members: Mapping[int, list[int]],
    budget: Budget,
    blocked: Callable[[int, int], bool],
) -> Members:
    """Groups after k-means inside each region, until the budget is met or no further merge is allowed.

    vectors: (n, d) unit rows; pairs: the range graph at the floor; members: groups of layer 1, single entities
    included. A new representative is the medoid of its group (lemma 11) and has cosine >= floor to every member.
    """
    groups = dict(members)
    before = len(members) + 1
    while budget.entities < len(groups) < before:
        before = len(groups)
        regions = _regions(pairs, groups, len(vectors))
        sizes = [len(region) for region in regions]
        room = budget.entities - (before - sum(sizes))  # entities outside regions stay
        for region, k in zip(regions, proportional(sizes, room), strict=True):
            for cluster in _clusters(vectors, region, k, budget):
                _merge(vectors, groups, cluster, budget.floor, blocked)
    return groups


def _regions(pairs: Pairs, members: Members, count: int) -> list[NDArray[np.int64]]:
    """Representatives of each component of two or more in the range graph."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    represents = np.zeros(count, bool)
    represents[list(members)] = True
    both_represent = represents[pairs[0]] & represents[pairs[1]]
    i, j = pairs[0][both_represent], pairs[1][both_represent]
    _, label = connected_components(coo_matrix((np.ones(len(i), bool), (i, j)), shape=(count, count)), directed=False)
    linked = np.unique(np.concatenate([i, j]))
    order = linked[np.argsort(label[linked], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []


def _clusters(vectors: NDArray[np.float32], region: NDArray[np.int64], k: int, budget: Budget) -> Iterator[list[int]]:
    """Clusters of two or more in one region, by spherical k-means."""
    if k == len(region):
        return
    label = clusters(vectors[region], k, budget.iterations, budget.seed)
    order = np.argsort(label, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(places) > 1:
            yield region[places].tolist()


def _merge(vectors: NDArray[np.float32], members: Members, cluster: list[int], floor: float, blocked) -> None:
    """Merge the groups of a cluster as far as guards and floor allow."""
    groups: list[list[int]] = []
    for group in (members[r] for r in cluster):
        if not any(blocked(a, b) for other in groups for a in other for b in group):
            groups.append(group)
    while len(groups) > 1:
        joined = sorted(entity for group in groups for entity in group)
        (medoid,) = medoids(vectors, [joined])
        near = [group for group in groups if float((vectors[group] @ vectors[medoid]).min()) >= floor]
        if len(near) == len(groups):
            for representative in set(joined).intersection(cluster):
                del members[representative]
            members[medoid] = joined
            return
        groups = near  # the medoid may change
