"""Qualifiers kept: share of the gold passages with qualifiers that the context holds with all of these.

Qualifiers are words of negation, quantity, comparison and order. The metric shows the cost of a form that drops words.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure
from secateur.evaluation.metrics._qualified import Settings, qualified

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("qualifiers kept")


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None if no gold passage has a qualifier."""
    for case in cases:
        kept = [kept for _, kept in qualified(case, settings)]
        yield float(np.mean(kept)) if kept else None
