"""Evidence coverage: mean share of a gold passage's content words in the context's lines from that passage."""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure
from secateur.models.words import content_words

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("evidence coverage")


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None without provenance, or if no gold passage has a word."""
    for case in cases:
        shares = [_share(case, passage, text) for passage, text in case.gold.measurable.items()]
        yield float(np.mean(shares)) if shares and case.traceable else None


def _share(case: Case, passage: str, text: str) -> float:
    words = content_words(text)
    if passage in case.whole:
        return 1.0
    return len(words & case.words.get(passage, set())) / len(words) if words else 0.0
