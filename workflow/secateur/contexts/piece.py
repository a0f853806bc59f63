"""Parts of a context: the pieces that a form offers, and the rows of text that are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from secateur.models.word_pieces import Counter

__all__ = [
    "Context",
    "Edge",
    "Form",
    "LineTokens",
    "Material",
    "Piece",
    "Query",
    "Ranked",
    "Row",
    "TextForm",
    "head_of",
    "passage_text",
    "rows_of",
    "text_of",
]

Triple = tuple[str, str, str]  # head, relation, tail


@dataclass(frozen=True)
class Edge:
    """An edge of the graph, as a form writes it."""

    edge_id: int
    triple: Triple


@dataclass(frozen=True)
class Ranked:
    """A unit of a ranking: a passage, or one edge of it. value: the ranking's score; only a price reads it."""

    passage_id: str
    edge_id: int | None = None
    value: float | None = None


@dataclass(frozen=True)
class Piece:
    """What a form offers for one ranked unit: its text, its source passage, and the edges that it states.

    whole: the text is the passage, word for word.
    """

    passage_id: str | None
    text: str
    edges: tuple[Edge, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Query:
    """A question to write a context for.

    triples: of the question. sent: parts of the prompt that another system sends for it. prior_questions, prior_answers:
    triples of earlier turns of its session.
    """

    text: str
    triples: tuple[Triple, ...] = ()
    sent: tuple[Piece, ...] = ()
    prior_questions: tuple[Triple, ...] = ()
    prior_answers: tuple[Triple, ...] = ()


@dataclass(frozen=True)
class Row:
    """A part of a context as the reader gets it, including the separator from the next.

    says: the words that it stands for, if the text is symbols.
    """

    text: str
    passage_id: str | None = None
    edge_ids: tuple[int, ...] = ()
    whole: bool = False
    says: str | None = None


@dataclass(frozen=True)
class Context:
    """The rows that a reader gets within one budget, and their tokens."""

    rows: list[Row]
    tokens: int


@dataclass(frozen=True)
class Material:
    """The texts and edges that forms write from.

    texts: each passage as a reader gets it. count: tokens of texts under the reader's tokenizer. edges: of each passage,
    in text order. ambiguous: (head, "relation tail") of more than one edge.
    """

    texts: Mapping[str, str]
    count: Counter
    edges: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    ambiguous: frozenset[tuple[str, str]] = frozenset()

    def edges_of(self, unit: Ranked) -> list[Edge]:
        """The edges of a ranked unit, each once."""
        edges = dict.fromkeys(self.edges.get(unit.passage_id, ()))
        return [edge for edge in edges if unit.edge_id is None or edge.edge_id == unit.edge_id]


class Form(Protocol):
    """Writes ranked units.

    Optional members spare the packer to write out and count texts:
    - `parts(pieces)`: tokens that each piece adds at least; by default those of its text;
    - `frame(query)`: rows that stand around any pieces;
    - `additive = True`: a piece adds its part whatever stands beside it, except for tokens that join.
    """

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        """The pieces to pack, best first."""

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        """The whole text of these pieces in this order, headers and rules included."""


def text_of(rows: Sequence[Row]) -> str:
    """The text of a context, as it is sent."""
    return "".join(row.text for row in rows)


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """The texts of pieces, a line each."""
    return [
        Row(
            piece.text + "\n" * (n < len(pieces)),
            piece.passage_id,
            tuple(edge.edge_id for edge in piece.edges),
            piece.whole,
        )
        for n, piece in enumerate(pieces, 1)
    ]


class LineTokens:
    """Tokens of the texts of pieces as lines; equal texts are counted once."""

    def __init__(self, count: Counter) -> None:
        self.count, self.sizes = count, {}

    def __call__(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens of each piece's text with its line end."""
        new = list(dict.fromkeys(piece.text for piece in pieces if piece.text not in self.sizes))
        if new:
            self.sizes |= zip(new, self.count([f"{text}\n" for text in new]).tolist(), strict=True)
        return [self.sizes[piece.text] for piece in pieces]


class TextForm:
    """A form whose text is that of its pieces, a line each. Base of forms that write no symbols."""

    additive = True

    def __init__(self, material: Material) -> None:
        self.texts, self.parts = material.texts, LineTokens(material.count)

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def head_of(titles: bool) -> pl.Expr:
    """The speaker of a passage, as column `speaker`; with `titles`, the article's title where there is no speaker."""
    return pl.coalesce("speaker", "title") if titles else pl.col("speaker")


def passage_text(text: str, speaker: str | None, date: str | None) -> str:
    """A passage as a reader gets it: `{speaker} ({date}): {text}`, without the missing parts.

    >>> passage_text("Hello.", "Ann", "May 4")
    'Ann (May 4): Hello.'
    """
    head = " ".join(part for part in (speaker, f"({date})" if date else None) if part)
    return f"{head}: {text}" if head else text
