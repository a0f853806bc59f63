"""What the policy sees of a question (paper 2.8): its size, how sure retrieval is, what the reader may know without it, what
each channel holds.

The paper's model id is no number here: utilities do not carry over between language models, so a policy is trained for
one and its file names it (`network.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, softmax

from secateur.core.errors import SecateurError

__all__ = ["Channel", "Standard", "feature_names", "features", "fit_standard", "redundancy", "standardise"]


@dataclass(frozen=True)
class Channel:
    """A channel under include_all: tokens of its part of the prompt, and its run vectors (n, d), unit rows."""

    tokens: int
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Standard:
    """Mean and deviation of each feature on the training questions."""

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def feature_names(channels: Sequence[str]) -> tuple[str, ...]:
    """The features in order, for the channels that leave something to decide."""
    each = (f"{channel}_{what}" for channel in channels for what in ("runs", "tokens", "redundancy"))
    asked = ("question_length", "question_triples", "score_entropy", "score_margin")
    return (*asked, "closed_surprise", "closed_agreement", "token_budget", *each)


def redundancy(vectors: NDArray[np.float32]) -> float:
    """Mean pairwise cosine of unit vectors, 0 where there is no pair: from the norm of their sum, O(nd)."""
    n = len(vectors)
    if n < 2:
        return 0.0
    total = vectors.astype(np.float64).sum(0)
    return float((total @ total - n) / (n * (n - 1)))


def features(
    length: int,
    triples: int,
    scores: NDArray,
    closed: tuple[float, float],
    budget: int,
    channels: Mapping[str, Channel],
) -> NDArray[np.float64]:
    """One question's features, in the order of `feature_names(channels)`.

    length: tokens of the question. scores: the fine scores of its top M runs; their entropy (nats) is that of their
    softmax, the margin is best minus second, and both are 0 where there is one score or none. closed: surprise and
    agreement of what the reader says without a context (`closed_book`). budget: tokens the evidence may take.
    """
    best = np.sort(np.asarray(scores, np.float64))[::-1]
    unsure = [entr(softmax(best)).sum(), best[0] - best[1]] if len(best) > 1 else [0.0, 0.0]
    held = [(len(c.vectors), c.tokens, redundancy(c.vectors)) for c in channels.values()]
    return np.array([length, triples, *unsure, *closed, budget, *np.ravel(held)], np.float64)


def fit_standard(x: NDArray[np.float64], names: Sequence[str], without: Sequence[str] = ()) -> Standard:
    """Mean and deviation over training questions, exactly 0 for what never varies; x: (questions, features).

    without: features that are to count as if they never varied, so that nobody sees them.
    """
    varies = (np.ptp(x, axis=0) > 0) & ~np.isin(names, list(without))
    return Standard(tuple(names), x.mean(0), np.where(varies, x.std(0), 0))


def standardise(x: NDArray[np.float64], standard: Standard, questions: Sequence[str]) -> NDArray[np.float32]:
    """Features in deviations from their training mean; one that was constant there has taught nothing and is 0.

    Raises SecateurError that names the question and the feature of the first value that is no number.
    """
    if len(wrong := np.argwhere(~np.isfinite(x))):
        row, column = wrong[0]
        raise SecateurError(
            f"feature {standard.names[column]} of question {questions[row]} is {x[row, column]}; allowed: finite numbers. "
            f"Fix: correct the scores or vectors it is computed from."
        )
    varies = standard.deviation > 0
    return np.where(varies, (x - standard.mean) / np.where(varies, standard.deviation, 1), 0).astype(np.float32)
