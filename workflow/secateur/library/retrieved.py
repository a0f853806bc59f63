"""A retrieved context and the sources of its parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from secateur.contexts.piece import Row

__all__ = ["Retrieved", "Source", "Units", "sources_of"]

Units = list[tuple[str, int | None, float]]  # a ranking, best first: passage, edge (None: the whole passage), score


@dataclass(frozen=True)
class Source:
    """A part of a context: its text, and the passage and document that it comes from (None for headers).

    says: the words that the text stands for, where it is symbols. score: of the passage in the ranking, of its best line where
    lines are ranked.
    """

    text: str
    passage_id: str | None
    doc_id: str | None
    says: str | None = None
    score: float | None = None


@dataclass(frozen=True)
class Retrieved:
    """A context: the text as the reader gets it, its tokens under the reader's tokenizer, and its sources."""

    question: str
    text: str
    tokens: int
    budget: int
    sources: tuple[Source, ...]

    def __str__(self) -> str:
        return self.text


def sources_of(rows: Iterable[Row], documents: Mapping[str, str], units: Units) -> tuple[Source, ...]:
    """The sources of a context's rows. documents: of passages; units: the ranking."""
    scores = {passage: score for passage, _, score in reversed(units)}
    named = ((row, row.passage_id or "") for row in rows)
    return tuple(
        Source(row.text, row.passage_id, documents.get(name), row.says, scores.get(name)) for row, name in named
    )
