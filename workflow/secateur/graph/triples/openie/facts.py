"""What a rule finds, and its form as a triple."""

from typing import NamedTuple

from secateur.graph.triples.surface import Triple, normalise

__all__ = ["Head", "PlacedFact", "as_triple"]


class Head(NamedTuple):
    """A triple's head: what it reads, and as written."""

    text: str
    original: str
    resolved: bool = False


class PlacedFact(NamedTuple):
    """A raw triple with the place of its tail in the text."""

    place: int
    head: Head
    relation: str
    tail: str


def as_triple(fact: PlacedFact) -> Triple:
    """A fact with its surface forms."""
    head, relation, tail = fact.head, fact.relation, fact.tail
    return Triple(
        normalise(head.text), normalise(relation.lower()), normalise(tail), head.original, relation, tail, head.resolved
    )
