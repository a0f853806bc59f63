"""Knowledge selection of a channel (paper 2.5): all runs, one representative per cluster, or none."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACTIONS", "apply_action", "representatives"]

ACTIONS = ("include_all", "unique", "not_include")
EPS = 1e-9  # rounding: equal vectors form one cluster even at theta 1
ROUNDING = 1e-6  # of single precision


def representatives(vectors: NDArray[np.float32], theta: float) -> list[int]:
    """Indices, ascending, of one run for each complete-link cluster at cosine theta: the one with the highest mean cosine.

    Ties within rounding, such as in any pair, go to the earlier run.
    Complete link keeps every pair of a cluster at or above theta (lemma 8 with epsilon = 1 - theta).
    vectors: (n, d), unit rows.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(vectors) < 2:
        return list(range(len(vectors)))
    unit = vectors.astype(np.float64)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), EPS)
    cosine = np.clip(unit @ unit.T, -1, 1)
    distance = 1 - (cosine + cosine.T) / 2
    np.fill_diagonal(distance, 0)
    labels = fcluster(linkage(squareform(distance, checks=False), "complete"), 1 - theta + EPS, "distance")
    chosen = []
    for label in dict.fromkeys(labels.tolist()):
        members = np.flatnonzero(labels == label)
        central = cosine[np.ix_(members, members)].mean(1)
        chosen.append(int(members[np.argmax(central >= central.max() - ROUNDING)]))
    return sorted(chosen)


def apply_action(action: str, vectors: NDArray[np.float32], theta: float) -> list[int]:
    """Indices of the runs that a channel keeps under an action."""
    if action == "not_include":
        return []
    return representatives(vectors, theta) if action == "unique" else list(range(len(vectors)))
