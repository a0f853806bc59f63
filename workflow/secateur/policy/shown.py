"""The context of a prompt under each configuration of its channels (paper 2.5, 2.8)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.contexts.channels import ACTIONS
from secateur.contexts.session import Unit
from secateur.policy.actions import CHANNELS, Configuration, kept_units

__all__ = ["Shown", "contexts"]

ORDER = ("facts", "question", "answer")  # facts first, so that configurations share the longest prefix


@dataclass(frozen=True)
class Shown:
    """A channel's units in the order shown, and their (n, d) vectors of length one."""

    units: tuple[Unit, ...]
    vectors: NDArray[np.float32]

    def under(self, channel: str, action: str, theta: float) -> list[Unit]:
        """The units that an action of their channel keeps, in order."""
        return [self.units[n] for n in kept_units(channel, action, self.vectors, theta)]


def contexts(
    channels: Mapping[str, Shown],
    configurations: Sequence[Configuration],
    theta: float,
    write: Callable[[Sequence[Unit]], str],
) -> list[str]:
    """The context under each configuration. write: units to text."""
    texts, under = [], {(c, action): channels[c].under(c, action, theta) for c in CHANNELS for action in ACTIONS}
    for configuration in configurations:
        kept = {channel: under[channel, action] for channel, action in zip(CHANNELS, configuration, strict=True)}
        texts.append(write([unit for channel in ORDER for unit in kept[channel]]))
    return texts
