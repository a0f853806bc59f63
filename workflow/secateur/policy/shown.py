"""What a prompt shows under each configuration of its channels (paper 2.5, 2.8)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from secateur.contexts.channels import ACTIONS, apply_action
from secateur.contexts.session import Said
from secateur.policy.actions import CHANNELS, Configuration

__all__ = ["Shown", "contexts"]

ORDER = ("facts", "question", "answer")  # facts first: configurations that share them share the longest prefix


@dataclass(frozen=True)
class Shown:
    """A channel's units in the order in which they are shown, and their unit vectors (n, d)."""

    units: tuple[Said, ...]
    vectors: NDArray[np.float32]

    def under(self, action: str, theta: float) -> list[Said]:
        """The units an action keeps, in their order."""
        return [self.units[n] for n in apply_action(action, self.vectors, theta)]


def contexts(
    channels: Mapping[str, Shown],
    configurations: Sequence[Configuration],
    theta: float,
    write: Callable[[Sequence[Said]], str],
) -> list[str]:
    """The context under each configuration; channels: one of each of CHANNELS; write: the text of some units."""
    found, under = [], {(c, action): channels[c].under(action, theta) for c in CHANNELS for action in ACTIONS}
    for configuration in configurations:
        kept = {channel: under[channel, action] for channel, action in zip(CHANNELS, configuration, strict=True)}
        found.append(write([unit for channel in ORDER for unit in kept[channel]]))
    return found
