"""Whole passages, word for word."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Form, LineTokens, Material, Piece, Query, Ranked, Row, rows_of


class _Whole:
    additive = True

    def __init__(self, material: Material) -> None:
        self.texts, self.parts = material.texts, LineTokens(material.count)

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        ids = dict.fromkeys(unit.passage_id for unit in ranked)
        return [Piece(p, self.texts[p], whole=True) for p in ids]

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def form(settings: Settings, material: Material) -> Form:
    """Every passage once, word for word."""
    return _Whole(material)
