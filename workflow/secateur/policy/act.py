"""Units shown in each channel of a prompt: all of them, or those that a trained policy chooses."""

from collections.abc import Mapping, Sequence

from secateur.contexts.session import Unit
from secateur.policy.actions import CHANNELS, kept_units
from secateur.policy.network import Trained, log_policy
from secateur.policy.observation import Observer

__all__ = ["Acting", "everything"]

Units = Mapping[str, Sequence[Unit]]  # channel -> its units
Kept = dict[str, list[int]]  # channel -> indices of the units that are shown


def everything(question_id: str, text: str, units: Units) -> Kept:
    """All units of all channels."""
    return {channel: list(range(len(units[channel]))) for channel in CHANNELS}


class Acting:
    """A policy applied question by question: it takes the most probable configuration.

    budget: tokens of the evidence, which the policy sees.
    """

    def __init__(self, trained: Trained, observer: Observer, theta: float, budget: int) -> None:
        self.trained, self.observer, self.theta, self.budget = trained, observer, theta, budget

    def __call__(self, question_id: str, text: str, units: Units) -> Kept:
        channels = {channel: self.observer.shown(units[channel]) for channel in CHANNELS}
        x = self.observer.features(question_id, text, channels, self.budget)
        actions = self.trained.configurations[log_policy(self.trained, x[None], [question_id])[0].argmax()]
        return {
            channel: kept_units(channel, action, channels[channel].vectors, self.theta)
            for channel, action in zip(CHANNELS, actions, strict=True)
        }
