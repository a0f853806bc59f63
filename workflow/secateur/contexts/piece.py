"""What a context is made of: pieces that a form offers, and rows of text as they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from secateur.models.word_pieces import Counter

__all__ = [
    "Asked",
    "Context",
    "Edge",
    "Form",
    "LineTokens",
    "Material",
    "Piece",
    "Ranked",
    "Row",
    "head_of",
    "passage_text",
    "rows_of",
    "text_of",
]

Triple = tuple[str, str, str]  # head, relation, tail


@dataclass(frozen=True)
class Edge:
    """An edge of the graph as a form can write it."""

    edge_id: int
    triple: Triple


@dataclass(frozen=True)
class Ranked:
    """A unit of a ranking: a passage, or one edge of it."""

    passage_id: str
    edge_id: int | None = None


@dataclass(frozen=True)
class Piece:
    """What a form offers for one unit: the passage it comes from, its own text, the edges it states.

    whole: its text is the passage, word for word.
    """

    passage_id: str | None
    text: str
    edges: tuple[Edge, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Asked:
    """The question a context is for, with its own triples; sent: what another system gives its reader for it; before,
    known: the triples of what its session asked and answered before."""

    text: str
    triples: tuple[Triple, ...] = ()
    sent: tuple[Piece, ...] = ()
    before: tuple[Triple, ...] = ()
    known: tuple[Triple, ...] = ()


@dataclass(frozen=True)
class Row:
    """A part of a context as the reader gets it, with what separates it from the next.

    says: the words it stands for, where the text is symbols.
    """

    text: str
    passage_id: str | None = None
    edge_ids: tuple[int, ...] = ()
    whole: bool = False
    says: str | None = None


@dataclass(frozen=True)
class Context:
    """What a reader gets within one budget, and its tokens."""

    rows: list[Row]
    tokens: int


@dataclass(frozen=True)
class Material:
    """What forms write from.

    texts: each passage as a reader gets it; edges: each passage's edges in text order; ambiguous: (head, "relation
    tail") that more than one edge reads as; count: tokens under the reader's tokenizer.
    """

    texts: Mapping[str, str]
    count: Counter
    edges: Mapping[str, Sequence[Edge]] = field(default_factory=dict)
    ambiguous: frozenset[tuple[str, str]] = frozenset()

    def edges_of(self, unit: Ranked) -> list[Edge]:
        """The edges a ranked unit stands for, each once."""
        own = dict.fromkeys(self.edges.get(unit.passage_id, ()))
        return [edge for edge in own if unit.edge_id is None or edge.edge_id == unit.edge_id]


class Form(Protocol):
    """How ranked units are written. A form chooses no units but those that it offers for a budget.

    It may say more, so that fewer texts are written out to be counted: `parts(pieces)`, tokens that each piece adds at
    least (those of its text, where it does not say); `frame(asked)`, rows that stand around any pieces; `additive = True`,
    that a piece adds just its part whatever stands beside it, but for what tokens join.
    """

    def pieces(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, list[Piece]]:
        """By budget: the pieces to pack, best first."""

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        """The rows that these pieces make in this order: the whole text, headers and rules included."""


def text_of(rows: Sequence[Row]) -> str:
    """The context as it is sent."""
    return "".join(row.text for row in rows)


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """Pieces as they are, a line each."""
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
    """Tokens of texts as lines of their own, each counted once."""

    def __init__(self, count: Counter) -> None:
        self.count, self.known = count, {}

    def __call__(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens of each piece's text and a line's end."""
        new = list(dict.fromkeys(piece.text for piece in pieces if piece.text not in self.known))
        if new:
            self.known |= zip(new, self.count([f"{text}\n" for text in new]).tolist(), strict=True)
        return [self.known[piece.text] for piece in pieces]


def head_of(titles: bool) -> pl.Expr:
    """Who a passage is by, as `speaker`; with titles, where nobody says it, the article that it stands in."""
    return pl.coalesce("speaker", "title") if titles else pl.col("speaker")


def passage_text(text: str, speaker: str | None, date: str | None) -> str:
    """A passage as a reader gets it: with who says it and when, where that is known.

    >>> passage_text("Hello.", "Ann", "May 4")
    'Ann (May 4): Hello.'
    """
    head = " ".join(part for part in (speaker, f"({date})" if date else None) if part)
    return f"{head}: {text}" if head else text
