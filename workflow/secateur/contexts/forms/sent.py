"""The prompt of another system, part by part, as it sends it."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.piece import Form, Material, Piece, Query, Ranked, TextForm

NEEDS_SENT = True


class _Sent(TextForm):
    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        return list(query.sent)


def form(settings: Settings, material: Material) -> Form:
    """The parts of its answering prompt in their order, repetitions included."""
    return _Sent(material)
