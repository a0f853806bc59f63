"""Semantic similarity: mean over the gold texts of the highest cosine to a row of the context; 0 for an empty context.

The floor is the same for the context of another question.
"""

from collections.abc import Iterator, Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.evaluation.evidence import Case
from secateur.evaluation.metric import Embed, Figure

__all__ = ["FIGURE", "Settings", "measure"]

FIGURE = Figure("semantic similarity", floor=True)


def measure(cases: Sequence[Case], settings: Settings, embed: Embed) -> Iterator[float | None]:
    """A value for each case."""
    texts = list(dict.fromkeys(t for case in cases for t in (*case.gold.texts, *case.read.lines)))
    vectors, place = embed(texts), {text: n for n, text in enumerate(texts)}
    for case in cases:
        gold, lines = (vectors[[place[t] for t in part]] for part in (case.gold.texts, case.read.lines))
        yield float((gold @ lines.T).max(1).mean()) if len(lines) else 0.0
