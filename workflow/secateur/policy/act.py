"""What each channel of a prompt shows where questions are answered: as a trained policy chooses, or all of it."""

from collections.abc import Mapping, Sequence

from secateur.contexts.channels import apply_action
from secateur.contexts.session import Said
from secateur.policy.actions import CHANNELS, lattice
from secateur.policy.network import Trained, log_policy
from secateur.policy.observation import Sight

__all__ = ["Acting", "everything"]

Units = Mapping[str, Sequence[Said]]  # of each of CHANNELS
Kept = dict[str, list[int]]  # by channel the places of those that are shown


def everything(question_id: str, text: str, units: Units) -> Kept:
    """All units of all channels."""
    return {channel: list(range(len(units[channel]))) for channel in CHANNELS}


class Acting:
    """A policy on questions as they come: the configuration to which it gives the highest probability."""

    def __init__(self, trained: Trained, sight: Sight, theta: float) -> None:
        self.trained, self.sight, self.theta = trained, sight, theta
        self.configurations = lattice(trained.memory)

    def __call__(self, question_id: str, text: str, units: Units) -> Kept:
        channels = {channel: self.sight.shown(units[channel]) for channel in CHANNELS}
        x = self.sight.features(question_id, text, channels)
        actions = self.configurations[log_policy(self.trained, x[None], [question_id])[0].argmax()]
        return {
            channel: apply_action(action, channels[channel].vectors, self.theta)
            for channel, action in zip(CHANNELS, actions, strict=True)
        }
