"""Whole passages, word for word."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Form, Material, Piece, Query, Ranked, TextForm


class _Whole(TextForm):
    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        ids = dict.fromkeys(unit.passage_id for unit in ranked)
        return [Piece(p, self.texts[p], whole=True) for p in ids]


def form(settings: Settings, material: Material) -> Form:
    """Every passage once, word for word."""
    return _Whole(material)
