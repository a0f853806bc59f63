"""The evidence a session's reader has been shown (paper 1.1, P3): later prompts carry what is new."""

from collections.abc import Hashable, Iterable, Iterator

__all__ = ["Transcript"]


class Transcript:
    """The units a session's reader still has before it, in the order in which they came; a prompt carries only those
    that it has not (delta). A unit is known by itself: its passage and its text.

    window: tokens that it may hold. The oldest units leave first, but none that the question at hand needs.
    """

    def __init__(self, window: int) -> None:
        self.window, self._shown = window, {}

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._shown)

    def show(self, units: Iterable[tuple[Hashable, int]]) -> list[Hashable]:
        """Add the (unit, tokens) that a question needs; those that were new, each once, in order."""
        needed = dict(units)
        fresh = [unit for unit in needed if unit not in self._shown]
        self._shown |= {unit: needed[unit] for unit in fresh}
        over = sum(self._shown.values()) - self.window
        for unit in [unit for unit in self._shown if unit not in needed]:
            if over <= 0:
                break
            over -= self._shown.pop(unit)
        return fresh
