"""Segmentation of a document's edge sequence into locally coherent runs (paper 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fit", "refine", "segment"]


@dataclass(frozen=True)
class Fit:
    """Threshold of the fit, tau, and bonuses for path continuation and shared nodes."""

    tau: float
    bonus_path: float
    bonus_node: float


def segment(vectors: NDArray[np.float32], heads: NDArray[np.int32], tails: NDArray[np.int32], fit: Fit) -> list[int]:
    """Starts of the runs after one pass over n triples in text order; empty for n = 0.

    vectors: (n, d) unit triple embeddings; heads, tails: (n,) entity ids. The running sum S gives the
    centroid S / |S|; a triple joins while cos(centroid, v) + bonus >= tau (paper 2.3).
    """
    if len(vectors) == 0:
        return []
    starts, total, nodes = [0], vectors[0].astype(np.float64), {int(heads[0]), int(tails[0])}
    for n in range(1, len(vectors)):
        head, tail = int(heads[n]), int(tails[n])
        bonus = fit.bonus_path if head == tails[n - 1] else fit.bonus_node if {head, tail} & nodes else 0.0
        if total @ vectors[n] / max(np.sqrt(total @ total), 1e-12) + bonus >= fit.tau:
            total = total + vectors[n]
            nodes |= {head, tail}
        else:
            starts.append(n)
            total, nodes = vectors[n].astype(np.float64), {head, tail}
    return starts


def _true_cut(
    vectors: NDArray[np.float32], heads: NDArray[np.int32], tails: NDArray[np.int32], fit: Fit, span: Sequence[int]
) -> bool:
    """True if re-segmenting two adjacent runs cuts first at the boundary between them."""
    left, boundary, right = span
    again = segment(vectors[left:right], heads[left:right], tails[left:right], fit)
    return len(again) > 1 and again[1] == boundary - left


def refine(
    vectors: NDArray[np.float32], heads: NDArray[np.int32], tails: NDArray[np.int32], fit: Fit, starts: Sequence[int]
) -> list[int]:
    """Boundary refinement: merge adjacent runs whose boundary is not a true cut, until nothing changes.

    The result is a fixed point (lemma 3): the segmenter cuts at every remaining boundary.
    """
    if len(vectors) == 0:
        return []
    ends = [*starts, len(vectors)]
    while True:
        kept = [ends[0]]
        for boundary, right in zip(ends[1:-1], ends[2:], strict=True):
            if _true_cut(vectors, heads, tails, fit, (kept[-1], boundary, right)):
                kept.append(boundary)
        if len(kept) == len(ends) - 1:
            return kept
        ends = [*kept, len(vectors)]
