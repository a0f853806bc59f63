"""The prompt of another system, part by part, as it sends it."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Form, LineTokens, Material, Piece, Query, Ranked, Row, rows_of

NEEDS_SENT = True


class _Sent:
    additive = True

    def __init__(self, material: Material) -> None:
        self.parts = LineTokens(material.count)

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        return list(query.sent)

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def form(settings: Settings, material: Material) -> Form:
    """The parts of its answering prompt in their order, repetitions included."""
    return _Sent(material)
