"""Features of a question (paper 2.8): its size, concentration of retrieval, closed-book answers, content of each channel.

The paper's model id is no feature here: utilities do not transfer between language models, so a policy is trained for one
model, which its file names (`network.py`).
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
    """A channel under include_all: tokens of its part of the prompt, and its (n, d) run vectors of length one."""

    tokens: int
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Standard:
    """Mean and deviation of each feature on the training questions."""

    names: tuple[str, ...]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def feature_names(channels: Sequence[str]) -> tuple[str, ...]:
    """Names of the features in order, for the channels in which configurations differ."""
    of_question = ("question_length", "question_triples", "score_entropy", "score_margin")
    of_channels = (f"{channel}_{what}" for channel in channels for what in ("runs", "tokens", "redundancy"))
    return (*of_question, "closed_surprise", "closed_agreement", "token_budget", *of_channels)


def redundancy(vectors: NDArray[np.float32]) -> float:
    """Mean pairwise cosine of vectors of length one, from the norm of their sum in O(nd); 0 without a pair."""
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

    length: tokens of the question; scores: the fine scores of its top M runs (entropy of their softmax in nats, and best
    minus second; both 0 for fewer than two scores); closed: surprise and agreement (`closed_book`); budget: tokens that
    the evidence may take.
    """
    best = np.sort(np.asarray(scores, np.float64))[::-1]
    spread = [entr(softmax(best)).sum(), best[0] - best[1]] if len(best) > 1 else [0.0, 0.0]
    sizes = [(len(c.vectors), c.tokens, redundancy(c.vectors)) for c in channels.values()]
    return np.array([length, triples, *spread, *closed, budget, *np.ravel(sizes)], np.float64)


def fit_standard(x: NDArray[np.float64], names: Sequence[str]) -> Standard:
    """Mean and deviation over training questions; the deviation of a constant feature is exactly 0.

    x: (questions, features).
    """
    return Standard(tuple(names), x.mean(0), np.where(np.ptp(x, axis=0) > 0, x.std(0), 0))


def standardise(x: NDArray[np.float64], standard: Standard, questions: Sequence[str]) -> NDArray[np.float32]:
    """(x - mean) / deviation; 0 for features that were constant in training.

    Raises SecateurError for a value that is not finite, with its question and feature.
    """
    if len(wrong := np.argwhere(~np.isfinite(x))):
        row, column = wrong[0]
        raise SecateurError(
            f"feature {standard.names[column]} of question {questions[row]} is {x[row, column]}; allowed: finite numbers. "
            f"Fix: correct the scores or vectors it is computed from."
        )
    varies = standard.deviation > 0
    return np.where(varies, (x - standard.mean) / np.where(varies, standard.deviation, 1), 0).astype(np.float32)
