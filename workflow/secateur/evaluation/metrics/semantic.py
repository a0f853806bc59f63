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
    pairs = [(case.gold.texts, [line for line in case.read.lines if line.strip()]) for case in cases]
    texts = list(dict.fromkeys(text for pair in pairs for part in pair for text in part))
    vectors = embed(texts)
    place = {text: n for n, text in enumerate(texts)}
    for pair in pairs:
        gold, lines = (vectors[[place[text] for text in part]] for part in pair)
        yield float((gold @ lines.T).max(1).mean()) if len(lines) else 0.0
