"""Evidence coverage: mean share of a gold passage's content words in the context's lines from that passage.

All its words count if it has no content words.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("evidence coverage")


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None without provenance, or if no gold passage has a word."""
    for case in cases:
        shares = [_share(case, passage) for passage in case.gold.measurable]
        yield float(np.mean(shares)) if shares and case.traceable else None


def _share(case: Case, passage: str) -> float:
    stated, shown = case.words[passage]
    return 1.0 if passage in case.whole else len(stated & shown) / len(stated)
