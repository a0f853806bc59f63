"""The lattice of configurations: one action for each of the three channels (paper 2.5, 2.8, lemma 13)."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from secateur.contexts.channels import ACTIONS

__all__ = ["CHANNELS", "Configuration", "above", "codes", "free_channels", "lattice", "name", "rises"]

CHANNELS = ("question", "answer", "facts")
Configuration = tuple[str, str, str]  # an action of each of CHANNELS


def lattice(memory: bool) -> tuple[Configuration, ...]:
    """All configurations, from include_all everywhere to not_include everywhere: 27, or 3 without memory.

    Without memory there are no earlier questions and answers to show.
    """
    only_facts = (("not_include",), ("not_include",), ACTIONS)
    return tuple(product(ACTIONS, repeat=len(CHANNELS)) if memory else product(*only_facts))


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
