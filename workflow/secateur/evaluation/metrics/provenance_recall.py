"""Provenance recall: share of the gold passages from which the context has any line.

Never a headline: a pointer to a passage is no evidence.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("provenance recall", headline=False)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None without provenance."""
    for case in cases:
        named = [passage in case.lines or passage in case.whole for passage in case.gold.passages]
        yield float(np.mean(named)) if case.traceable else None
