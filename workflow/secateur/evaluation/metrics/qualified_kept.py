"""Share of the gold passages with a word of negation, quantity, comparison or order that are there with all such words:
what a form pays that drops them."""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure
from secateur.evaluation.metrics._qualified import Settings, qualified

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("qualifiers kept")


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A figure a case; none where no gold passage has such a word."""
    for case in cases:
        found = [kept for _, kept in qualified(case, settings)]
        yield float(np.mean(found)) if found else None
