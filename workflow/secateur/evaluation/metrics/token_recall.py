"""Share of the evidence's content words, minus the question's, that stand anywhere in the context. Its floor: the same in
the context of another question."""

from collections.abc import Iterator, Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case, words_of
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("token recall", floor=True)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A figure a case; none where the question gives every word."""
    for case in cases:
        new = words_of(case.gold.texts) - case.asked
        yield len(new & words_of(case.read.lines)) / len(new) if new else None
