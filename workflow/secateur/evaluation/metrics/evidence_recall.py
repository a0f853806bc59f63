"""Share of the gold passages that are there: word for word, or else with at least `min_content` of the content words that
the question does not already give, under their provenance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from secateur.core.fields import key
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("evidence recall")


@dataclass(frozen=True)
class Settings:
    """What counts as there."""

    min_content: float = key(
        "share of a gold passage's new content words that edges or a shortened text must keep",
        low=0,
        high=1,
        default=0.5,
    )


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A figure a case; none where provenance is not known."""
    for case in cases:
        there = [case.there(passage, settings.min_content) for passage in case.gold.passages]
        yield float(np.mean(there)) if case.traced else None
