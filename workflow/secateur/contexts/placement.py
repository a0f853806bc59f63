"""Where the chosen pieces stand: best first, best last (next to the question), or as they were written."""

from collections.abc import Mapping, Sequence
from typing import Literal

from secateur.contexts.piece import Piece

__all__ = ["Placement", "placed"]

Placement = Literal["best_first", "best_last", "as_written"]


def placed(pieces: Sequence[Piece], placement: Placement, order: Mapping[str, int]) -> list[Piece]:
    """The pieces, best first as given, in the order in which they are sent. order: each passage's place in the text.

    Pieces of one passage keep their order among themselves.
    """
    if placement == "best_last":
        return list(pieces)[::-1]
    if placement == "as_written":
        return sorted(pieces, key=lambda piece: order.get(piece.passage_id, len(order)))
    return list(pieces)
