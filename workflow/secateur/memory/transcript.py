"""The evidence that a session's reader has been shown (paper 1.1, P3): later prompts carry new evidence only."""

from collections.abc import Hashable, Iterable, Iterator, Sequence

__all__ = ["Transcript"]


class Transcript:
    """The units that a session's reader still has, in the order shown; a prompt carries only the others (delta).

    window: most tokens of units. The oldest units leave first, except those that the current question needs.
    """

    def __init__(self, window: int) -> None:
        self.window, self._shown = window, {}

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._shown)

    def due(self, blocks: Sequence[Sequence[tuple[Hashable, int]]], most: int | None) -> Sequence[tuple[Hashable, int]]:
        """The context to show, of a question's contexts with the largest first: the first with new units within `most`
        tokens, else the last. The first question of a session, and every question without a limit, gets the largest.
        """
        if most is None or not self._shown:
            return blocks[0]
        new = (sum(n for unit, n in dict(block).items() if unit not in self._shown) for block in blocks)
        return next((block for block, tokens in zip(blocks, new, strict=True) if tokens <= most), blocks[-1])

    def show(self, units: Iterable[tuple[Hashable, int]]) -> list[Hashable]:
        """Add the (unit, tokens) that a question needs; returns the new units, each once, in order."""
        needed = dict(units)
        fresh = [unit for unit in needed if unit not in self._shown]
        self._shown |= {unit: needed[unit] for unit in fresh}
        over = sum(self._shown.values()) - self.window
        for unit in [unit for unit in self._shown if unit not in needed]:
            if over <= 0:
                break
            over -= self._shown.pop(unit)
        return fresh
