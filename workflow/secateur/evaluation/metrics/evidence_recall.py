"""Evidence recall: share of the gold passages that the context holds.

Word for word, or in lines from that passage with a share `min_content` of its content words that are not in the question.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from secateur.core.fields import key
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("evidence recall", order=1, words=("evidence", "holds more evidence than", "holds less evidence than"))


@dataclass(frozen=True)
class Settings:
    """The share of content words that counts as held."""

    min_content: float = key(
        "share of a gold passage's content words, minus the question's, that edges or a shortened text must keep",
        low=0,
        high=1,
        default=0.5,
    )


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None without provenance, or if no gold passage has a word."""
    for case in cases:
        recalled = [case.holds(passage, settings.min_content) for passage in case.gold.measurable]
        yield float(np.mean(recalled)) if recalled and case.traceable else None
