"""What another system gives its reader, as it gives it."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Asked, Form, LineTokens, Material, Piece, Ranked, Row, rows_of

NEEDS_SENT = True


class _Sent:
    additive = True

    def __init__(self, material: Material) -> None:
        self.parts = LineTokens(material.count)

    def pieces(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, list[Piece]]:
        return {budget: list(asked.sent) for budget in budgets}

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def form(settings: Settings, material: Material) -> Form:
    """The parts of its answering prompt in their order, repeated ones too."""
    return _Sent(material)
