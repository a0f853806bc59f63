"""Personalised PageRank of one question over a weighted, undirected graph."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["masses", "transitions"]

ERROR = 1e-12  # of a question's masses, summed


def transitions(weights):
    """(nodes, nodes) sparse matrix whose column n has the probabilities of a step from node n; empty for a node alone.

    weights: sparse and symmetric.
    """
    from scipy.sparse import diags_array

    degrees = weights.sum(1)
    return (diags_array(1 / np.where(degrees > 0, degrees, 1)) @ weights).T.tocsr()


def masses(steps, restart: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """The stationary mass of each node: p = (1 - d) restart + d S p; a node without an edge restarts.

    steps: S (`transitions`); restart: sums to 1; damping: d, the probability of a step.
    """
    mass, error = restart, 2.0
    while error > ERROR:
        moved = damping * (steps @ mass)
        after = moved + (1 - moved.sum()) * restart
        mass, error = after, np.abs(after - mass).sum()
    return mass
