"""What a session's prompt shows: what was asked and answered before beside the facts, as text, or all as symbols of one
codebook (paper 2.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from secateur.contexts.piece import Asked, Edge, Form, Piece, Row, Triple, rows_of

__all__ = ["FACTS", "Said", "Symbolic", "Textual", "Writer", "fact_of"]

HEADS = {"question": "Asked before: ", "answer": "Answered before: "}
FACTS = "facts"


@dataclass(frozen=True)
class Said:
    """A unit of a channel: its words, and what of them is in the codebook. triples: of a question or an answer; edges: of
    a fact; source: the passage it comes from, or the question that it was."""

    channel: str
    text: str
    source: str | None = None
    triples: tuple[Triple, ...] = ()
    edges: tuple[Edge, ...] = ()
    whole: bool = False


def fact_of(row: Mapping[str, Any], edges: Mapping[int, Edge]) -> Said | None:
    """A row of the table `contexts` as a fact; None where it only stands around some. edges: of a form of symbols."""
    own = tuple(edges[edge] for edge in row["edge_ids"]) if edges else ()
    if edges and not own:
        return None
    text = "; ".join(" ".join(edge.triple) for edge in own) if edges else row["text"].rstrip("\n")
    return Said(FACTS, text, row["passage_id"], (), own, row["whole"])


class Writer(Protocol):
    """How units become the rows of a prompt, in the order given as far as the form has one."""

    def __call__(self, asked: Asked, units: Sequence[Said]) -> list[Row]: ...


class Textual:
    """A line each, which says of what is no fact what it is."""

    def __call__(self, asked: Asked, units: Sequence[Said]) -> list[Row]:
        return rows_of([Piece(u.source, HEADS.get(u.channel, "") + u.text, u.edges, u.whole) for u in units])


class Symbolic:
    """One view of all channels under a form of symbols, with one codebook. A question or an answer without a triple has no
    symbol, and is not shown."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def __call__(self, asked: Asked, units: Sequence[Said]) -> list[Row]:
        told: Mapping[str, tuple[Triple, ...]] = {
            channel: tuple(dict.fromkeys(t for u in units if u.channel == channel for t in u.triples))
            for channel in HEADS
        }
        facts = [Piece(u.source, "", u.edges) for u in units if u.channel == FACTS and u.edges]
        return self.form.rows(Asked(asked.text, asked.triples, (), told["question"], told["answer"]), facts)
