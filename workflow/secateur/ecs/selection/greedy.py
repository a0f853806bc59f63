"""From scores to a context: as many as the gold, above a threshold, within a budget, or one after the other."""

import heapq
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["budget", "greedy", "k_gold", "ranked", "threshold"]

Utility = Callable[[tuple[int, ...], Sequence[int]], Sequence[float]]  # (context, candidates) -> their utilities


def ranked(scores: NDArray[np.float64]) -> list[int]:
    """Candidates by score, best first, ties to the earlier one; those without a score (NaN) are left out."""
    return [int(n) for n in np.argsort(-scores, kind="stable") if not np.isnan(scores[n])]


def k_gold(scores: NDArray[np.float64], k: int) -> list[int]:
    """The k best: the paper's protocol, k the number of gold passages (section 4.1)."""
    return ranked(scores)[:k]


def threshold(scores: NDArray[np.float64], tau: float) -> list[int]:
    """Those above tau, best first (algorithm 1, each candidate by itself); may be none."""
    return [n for n in ranked(scores) if scores[n] > tau]


def budget(scores: NDArray[np.float64], tokens: NDArray[np.int64], most: int) -> list[int]:
    """The best until the first that would overflow `most` tokens, which is left out with all later ones."""
    order = ranked(scores)
    return order[: int(np.searchsorted(np.cumsum(tokens[order]), most, side="right"))]


def greedy(utility: Utility, tokens: Sequence[int], tau: float, most: int) -> list[int]:
    """Algorithm 1 as a selection: the best candidate joins C, the rest are scored anew under it.

    It stops where the best utility is at most tau or its candidate overflows `most` tokens, and may select nothing.
    The rest are scored lazily: utilities under a smaller C are taken for upper bounds, and a candidate is scored anew
    only once it leads; that is exact where utilities fall as C grows. A utility that is not a number never joins.
    """
    first = utility((), range(len(tokens)))
    heap = [(-value, n, 0) for n, value in enumerate(first) if not np.isnan(value)]  # ties: the earlier candidate
    heapq.heapify(heap)
    chosen: list[int] = []
    left = most
    while heap:
        value, n, scored_at = heapq.heappop(heap)
        if scored_at < len(chosen):
            (fresh,) = utility(tuple(chosen), [n])
            if not np.isnan(fresh):
                heapq.heappush(heap, (-fresh, n, len(chosen)))
        elif -value <= tau or tokens[n] > left:
            break
        else:
            chosen.append(n)
            left -= tokens[n]
    return chosen
