"""The evidence a session's reader has been shown (paper 1.1, P3): later prompts carry what is new."""

from collections import OrderedDict
from collections.abc import Iterable

__all__ = ["Transcript"]


class Transcript:
    """The units a session's reader still has before it: a prompt carries only those that it has not (delta).

    window: tokens that the transcript may hold; the oldest units leave first, and a unit shown again stays where it is.
    """

    def __init__(self, window: int) -> None:
        self.window, self._shown, self._used = window, OrderedDict(), 0

    def __iter__(self):
        return iter(self._shown)

    def __contains__(self, unit: str) -> bool:
        return unit in self._shown

    @property
    def tokens(self) -> int:
        """Tokens it holds."""
        return self._used

    def show(self, units: Iterable[tuple[str, int]]) -> list[str]:
        """Add (unit, tokens); the units that were new, each once, in order."""
        fresh = {unit: tokens for unit, tokens in units if unit not in self._shown}
        for unit, tokens in fresh.items():
            self._shown[unit] = tokens
            self._used += tokens
        while self._used > self.window and len(self._shown) > len(fresh):  # what was just sent stays
            _, tokens = self._shown.popitem(last=False)
            self._used -= tokens
        return list(fresh)
