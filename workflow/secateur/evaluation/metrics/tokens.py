"""Tokens used: the reader's tokens of the context, as it is sent."""

from collections.abc import Iterator, Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("tokens used", digits=0, better="", headline=False, kept=True, order=40)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case."""
    for case in cases:
        yield float(case.read.tokens)
