"""Evidence recall of the gold passages with qualifiers: words of negation, quantity, comparison and order."""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure
from secateur.evaluation.metrics._qualified import Settings, qualified

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("qualified recall", headline=False)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None if no gold passage has a qualifier."""
    for case in cases:
        recalled = [is_held for is_held, _ in qualified(case, settings)]
        yield float(np.mean(recalled)) if recalled else None
