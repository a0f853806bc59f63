"""Units shown in each channel of a prompt: all of them, or those that a trained policy chooses."""

from collections.abc import Mapping, Sequence

from secateur.contexts.channels import apply_action
from secateur.contexts.session import Unit
from secateur.policy.actions import CHANNELS, lattice
from secateur.policy.network import Trained, log_policy
from secateur.policy.observation import Observer

__all__ = ["Acting", "everything"]

Units = Mapping[str, Sequence[Unit]]  # channel -> its units
Kept = dict[str, list[int]]  # channel -> indices of the units that are shown


def everything(question_id: str, text: str, units: Units) -> Kept:
    """All units of all channels."""
    return {channel: list(range(len(units[channel]))) for channel in CHANNELS}


class Acting:
    """A policy applied question by question: it takes the most probable configuration."""

    def __init__(self, trained: Trained, observer: Observer, theta: float) -> None:
        self.trained, self.observer, self.theta = trained, observer, theta
        self.configurations = lattice(trained.memory)

    def __call__(self, question_id: str, text: str, units: Units) -> Kept:
        channels = {channel: self.observer.shown(units[channel]) for channel in CHANNELS}
        x = self.observer.features(question_id, text, channels)
        actions = self.configurations[log_policy(self.trained, x[None], [question_id])[0].argmax()]
        return {
            channel: apply_action(action, channels[channel].vectors, self.theta)
            for channel, action in zip(CHANNELS, actions, strict=True)
        }
