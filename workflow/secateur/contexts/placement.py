"""Placement of the chosen pieces: best first, best last (next to the question), or in the order of the text."""

from collections.abc import Mapping, Sequence
from typing import Literal

from secateur.contexts.piece import Piece

__all__ = ["Placement", "placed"]

Placement = Literal["best_first", "best_last", "as_written"]


def placed(pieces: Sequence[Piece], placement: Placement, order: Mapping[str, int]) -> list[Piece]:
    """Pieces, best first, reordered for a placement; pieces of one passage keep their order.

    order: place of each passage in the text, by id.
    """
    if placement == "best_last":
        return list(pieces)[::-1]
    if placement == "as_written":
        return sorted(pieces, key=lambda piece: order.get(piece.passage_id, len(order)))
    return list(pieces)
