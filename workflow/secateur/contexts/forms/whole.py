"""Passages as they are."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Asked, Form, LineTokens, Material, Piece, Ranked, Row, rows_of


class _Whole:
    additive = True

    def __init__(self, material: Material) -> None:
        self.texts, self.parts = material.texts, LineTokens(material.count)

    def pieces(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, list[Piece]]:
        ids = dict.fromkeys(unit.passage_id for unit in ranked)
        offered = [Piece(p, self.texts[p], whole=True) for p in ids]
        return dict.fromkeys(budgets, offered)

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def form(settings: Settings, material: Material) -> Form:
    """Every passage once, word for word."""
    return _Whole(material)
