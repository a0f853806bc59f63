"""Share of the gold passages under whose provenance there is anything at all: never a headline, for a pointer is no
evidence."""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("provenance recall", headline=False)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A figure a case; none where provenance is not known."""
    for case in cases:
        yield float(np.mean([p in case.lines for p in case.gold.passages])) if case.traced else None
