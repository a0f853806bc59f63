"""The evidence a session's reader has been shown (paper 1.1, P3): later prompts carry what is new."""

from collections.abc import Hashable, Iterable, Iterator, Sequence

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

    def due(self, blocks: Sequence[Sequence[tuple[Hashable, int]]], most: int | None) -> Sequence[tuple[Hashable, int]]:
        """Which of a question's blocks, the largest first, is shown: the first whose new units are within `most` tokens,
        else the last. A session's first question gets the largest, and so does every one without a limit.
        """
        if most is None or not self._shown:
            return blocks[0]
        new = (sum(n for unit, n in dict(block).items() if unit not in self._shown) for block in blocks)
        return next((block for block, tokens in zip(blocks, new, strict=True) if tokens <= most), blocks[-1])

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
