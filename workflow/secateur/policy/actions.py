"""The lattice of configurations: one action for each of the three channels (paper 2.5, 2.8, lemma 13)."""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from secateur.contexts.channels import ACTIONS, apply_action

__all__ = [
    "CHANNELS",
    "LATTICE",
    "Configuration",
    "codes",
    "distinct",
    "free_channels",
    "kept_units",
    "listed",
    "name",
]

CHANNELS = ("question", "answer", "facts")
Configuration = tuple[str, str, str]  # an action of each of CHANNELS
LATTICE: tuple[Configuration, ...] = tuple(product(ACTIONS, repeat=3))  # all 27, from include_all everywhere down
ALL_ALIKE = -1.0  # a cosine that every pair reaches


def distinct(prompts: Sequence[Sequence[str]]) -> tuple[Configuration, ...]:
    """The configurations that differ: of those whose prompts are the same for every question, one.

    prompts: of each question, under each configuration of the lattice; without a question nothing is known to be the same.
    Of equal ones that with the fewest `unique` stays, then the lowest: a channel that never has a unit is not_include.
    """
    same: dict[tuple[str, ...], list[Configuration]] = {}
    for configuration, column in zip(LATTICE, zip(*prompts, strict=True), strict=False):
        same.setdefault(column, []).append(configuration)
    kept = {min(group[::-1], key=lambda actions: actions.count("unique")) for group in same.values()}
    return tuple(configuration for configuration in LATTICE if configuration in kept) or LATTICE


def listed(names: Iterable[str]) -> tuple[Configuration, ...]:
    """The configurations of a table, in the order of the lattice; unknown names are left out."""
    present = set(names)
    return tuple(configuration for configuration in LATTICE if name(configuration) in present)


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
