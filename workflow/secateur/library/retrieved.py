"""A retrieved context and the sources of its parts."""

from dataclasses import dataclass

__all__ = ["Retrieved", "Source"]


@dataclass(frozen=True)
class Source:
    """A part of a context: its text, and the passage and document that it comes from (None for headers).

    says: the words that the text stands for, where it is symbols.
    """

    text: str
    passage_id: str | None
    doc_id: str | None
    says: str | None = None


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
