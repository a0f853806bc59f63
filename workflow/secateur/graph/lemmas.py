"""What the paper's lemmas claim of a graph, as figures of the graph at hand: measured, not proved."""

import math
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from secateur.graph.retrieval.candidates import Book, GroupRuns, Symbols, fine_of
from secateur.graph.runs import Fit, segment
from secateur.ranking.group import top

__all__ = ["concentration", "full_top", "growth", "growth_exponent", "segment_all", "touched", "window_around"]

BLOCK = 2000  # runs scored at once by the fine stage over a whole group
LAZY = 100  # runs whose joined text is embedded at once


def concentration(counts: NDArray[np.int64], shares: Sequence[float]) -> list[float]:
    """Share of all mentions that falls on the most frequent symbols (lemma 1), for shares of the symbols.

    >>> concentration(np.array([1, 6, 2, 1]), [0.25, 0.5])
    [0.6, 0.8]
    """
    falling = np.cumsum(np.sort(counts)[::-1])
    return [float(falling[math.ceil(share * len(counts)) - 1] / falling[-1]) for share in shares]


def growth(symbols: NDArray[np.int64], places: NDArray[np.int64], read: Sequence[int]) -> list[int]:
    """How many distinct symbols the first `read` passages hold; parallel (symbol, place of its passage) mentions.

    >>> growth(np.array([0, 1, 0, 2]), np.array([0, 0, 1, 2]), [1, 2, 3])
    [2, 2, 3]
    """
    first = np.full(int(symbols.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, symbols, places)
    return np.searchsorted(np.sort(first), read, side="left").tolist()


def growth_exponent(read: Sequence[int], counts: Sequence[int]) -> float | None:
    """Slope of log count over log passages read, by least squares; None below two points with a count.

    >>> round(growth_exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    points = np.unique([(x, y) for x, y in zip(read, counts, strict=True) if y], axis=0)
    return float(np.polyfit(*np.log(points).T, 1)[0]) if len(points) > 1 else None


def touched(group: GroupRuns, chosen: Sequence[int]) -> tuple[int, int]:
    """Distinct edges of some runs, and the bound of lemma 5: their number times the longest run of the group."""
    spans = group.spans(chosen)
    return len(np.unique(np.concatenate(spans))), len(spans) * int(np.diff(group.starts).max())


def _fine_without_whole(cfg, book: Book, group: GroupRuns, symbols: Symbols, embedder) -> NDArray[np.float64]:
    """(runs,) fine scores of all runs but for WholeChunk, in blocks of runs of like size."""
    cheap, order = SimpleNamespace(**vars(cfg) | {"w_whole": 0.0}), np.argsort(np.diff(group.starts), kind="stable")
    fine = np.empty(len(order))
    for start in range(0, len(order), BLOCK):
        part = order[start : start + BLOCK]
        fine[part] = fine_of(cheap, book, group, part, symbols, embedder)["fine"]
    return fine


def full_top(cfg, book: Book, group: GroupRuns, symbols: Symbols, embedder) -> NDArray[np.int64]:
    """The top M runs of a group by fine score, with no coarse stage before it (lemma 7).

    WholeChunk embeds a joined text for each run, so it is computed only where it could decide: a cosine is 1 at
    most, which bounds the term, and runs are visited by falling bound until none can enter the top M.
    """
    fine = _fine_without_whole(cfg, book, group, symbols, embedder)
    if not cfg.w_whole:
        return top(fine, cfg.top_m)
    most = cfg.w_whole / (1 + math.exp(-(1 - cfg.tau_whole) / cfg.t_whole))
    bound = fine + most / np.sqrt(np.diff(group.starts))
    order, exact = top(bound, len(bound)), np.full(len(bound), -np.inf)
    for start in range(0, len(order), LAZY):
        if start >= cfg.top_m and bound[order[start]] < np.sort(exact)[-cfg.top_m]:
            break
        part = order[start : start + LAZY]
        exact[part] = fine_of(cfg, book, group, part, symbols, embedder)["fine"]
    return top(exact, cfg.top_m)


def segment_all(book: Book, edges: NDArray[np.int32], documents: NDArray[np.int64], fit: Fit) -> NDArray[np.int64]:
    """(mentions,) dense run ids of a corpus's edge sequence under a threshold (corollary 6).

    edges: the sequence, by id; documents: where each document starts in it.
    """
    starts: list[int] = []
    for left, right in zip(documents, [*documents[1:], len(edges)], strict=True):
        own = edges[left:right]
        vectors = book.lines[own]
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)  # stored in bytes
        starts += [int(left) + start for start in segment(vectors, book.h[own], book.t[own], fit)]
    return np.searchsorted(starts, np.arange(len(edges)), side="right") - 1


def window_around(place: int, length: int, width: int) -> range | None:
    """Places of `width` neighbouring sentences of a document that begin at `place`, or end it; None if it is shorter.

    >>> window_around(2, 10, 4), window_around(9, 10, 4), window_around(0, 3, 4)
    (range(2, 6), range(6, 10), None)
    """
    start = min(place, length - width)
    return range(start, start + width) if start >= 0 else None
