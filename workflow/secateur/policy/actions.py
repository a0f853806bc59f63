"""The lattice of configurations: one action for each of the three channels (paper 2.5, 2.8, lemma 13)."""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from secateur.contexts.channels import ACTIONS, apply_action

__all__ = [
    "CHANNELS",
    "Configuration",
    "above",
    "codes",
    "free_channels",
    "kept_units",
    "lattice",
    "listed",
    "name",
    "recalled",
    "rises",
]

CHANNELS = ("question", "answer", "facts")
Configuration = tuple[str, str, str]  # an action of each of CHANNELS
ALL_ALIKE = -1.0  # a cosine that every pair reaches


def lattice(questions: int, answers: int) -> tuple[Configuration, ...]:
    """All configurations, from include_all everywhere down: 27, 18 with at most one earlier question, 3 without memory.

    questions, answers: the most that a prompt recalls. `unique` of one unit equals include_all, and is left out; a channel
    that never has a unit is not_include.
    """
    return tuple(product(_distinct(questions), _distinct(answers), ACTIONS))


def _distinct(units: int) -> tuple[str, ...]:
    """The actions that differ on so many units."""
    return ACTIONS if units > 1 else tuple(action for action in ACTIONS[units == 0 and 2 :] if action != "unique")


def recalled(memory, longest: int) -> tuple[int, int]:
    """The most earlier questions and answers of a prompt. memory: the option; longest: questions of the longest session."""
    earlier = longest - 1 if memory.enabled else 0
    return min(memory.questions, earlier), min(memory.answers, earlier)


def listed(names: Iterable[str]) -> tuple[Configuration, ...]:
    """The configurations of a table, in the order of the lattice; unknown names are left out."""
    present = set(names)
    return tuple(configuration for configuration in lattice(2, 2) if name(configuration) in present)


def kept_units(channel: str, action: str, vectors: NDArray[np.float32], theta: float) -> list[int]:
    """Indices of the units that a channel keeps. Earlier questions are one cluster, so `unique` keeps one of them."""
    return apply_action(action, vectors, ALL_ALIKE if channel == "question" else theta)


def name(configuration: Configuration) -> str:
    """The actions on questions, answers and facts.

    >>> name(("unique", "not_include", "include_all"))
    'unique/not_include/include_all'
    """
    return "/".join(configuration)


def codes(configurations: Sequence[Configuration]) -> NDArray[np.int64]:
    """(configurations, 3) indices in ACTIONS, from the top of the lattice down."""
    return np.array([[ACTIONS.index(action) for action in actions] for actions in configurations], np.int64)


def free_channels(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    """The channels in which configurations differ."""
    return tuple(c for c, used in zip(CHANNELS, zip(*configurations, strict=True), strict=True) if len(set(used)) > 1)


def above(configurations: Sequence[Configuration]) -> NDArray[np.bool_]:
    """(k, k) whether i shows at least as much as j in every channel and more in one (the order of lemma 13)."""
    levels = codes(configurations)
    return (levels[:, None] <= levels[None]).all(-1) & (levels[:, None] < levels[None]).any(-1)


def rises(tokens: NDArray, configurations: Sequence[Configuration]) -> float:
    """Share of ordered pairs in which the lower configuration costs more tokens; lemma 13 assumes 0.

    tokens: (questions, configurations).
    """
    upper, lower = np.nonzero(above(configurations))
    return float((tokens[:, lower] > tokens[:, upper]).mean())
