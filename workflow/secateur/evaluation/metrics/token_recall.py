"""Token recall: share of the evidence's content words, minus the question's, anywhere in the context.

The floor is the same for the context of another question.
"""

from collections.abc import Iterator, Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case, words_of
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure(
    "token recall",
    floor=True,
    order=2,
    words=("gold words", "holds more gold words than", "holds fewer gold words than"),
)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case; None if the question has every word."""
    for case in cases:
        evidence_words = words_of(case.gold.texts) - case.question_words
        yield len(evidence_words & words_of(case.read.lines)) / len(evidence_words) if evidence_words else None
