"""Prompts of a session: facts and earlier questions and answers, as text or as symbols of one codebook (paper 2.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from secateur.contexts.piece import Edge, Form, Piece, Query, Row, Triple, rows_of

__all__ = ["FACTS", "Symbolic", "Textual", "Unit", "Writer", "fact_unit"]

HEADS = {"question": "Asked before: ", "answer": "Answered before: "}
FACTS = "facts"


@dataclass(frozen=True)
class Unit:
    """A unit of a channel (`question`, `answer` or `facts`).

    source: the passage of a fact, or the earlier question. triples: of a question or an answer. edges: of a fact.
    """

    channel: str
    text: str
    source: str | None = None
    triples: tuple[Triple, ...] = ()
    edges: tuple[Edge, ...] = ()
    whole: bool = False


def fact_unit(row: Mapping[str, Any], edges: Mapping[int, Edge]) -> Unit | None:
    """A row of the contexts table as a fact; None for a row without an edge under a symbolic form.

    edges: by id, under a symbolic form; else empty.
    """
    row_edges = tuple(edges[edge] for edge in row["edge_ids"]) if edges else ()
    if edges and not row_edges:
        return None
    text = "; ".join(" ".join(edge.triple) for edge in row_edges) if edges else row["text"].rstrip("\n")
    return Unit(FACTS, text, row["passage_id"], (), row_edges, row["whole"])


class Writer(Protocol):
    """Writes units as the rows of a prompt, in the order given as far as the form allows."""

    def __call__(self, query: Query, units: Sequence[Unit]) -> list[Row]: ...


class Textual:
    """One line per unit, labelled question or answer where it is not a fact."""

    def __call__(self, query: Query, units: Sequence[Unit]) -> list[Row]:
        return rows_of([Piece(u.source, HEADS.get(u.channel, "") + u.text, u.edges, u.whole) for u in units])


class Symbolic:
    """One view of all channels with one codebook, under a symbolic form.

    A question or an answer without a triple has no symbol and is not shown.
    """

    def __init__(self, form: Form) -> None:
        self.form = form

    def __call__(self, query: Query, units: Sequence[Unit]) -> list[Row]:
        triples: Mapping[str, tuple[Triple, ...]] = {
            channel: tuple(dict.fromkeys(t for u in units if u.channel == channel for t in u.triples))
            for channel in HEADS
        }
        facts = [Piece(u.source, "", u.edges) for u in units if u.channel == FACTS and u.edges]
        return self.form.rows(Query(query.text, query.triples, (), triples["question"], triples["answer"]), facts)
