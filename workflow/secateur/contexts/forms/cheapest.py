"""The encoding that writes the chosen facts in the fewest tokens, header included (paper 2.6)."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.encodings import ENCODINGS
from secateur.contexts.forms._symbols import Symbols
from secateur.contexts.piece import Form, Material, Piece, Query, Row, text_of

NEEDS_GRAPH = True
SYMBOLS = True


class _Cheapest(Symbols):
    def __init__(self, material: Material) -> None:
        super().__init__(ENCODINGS[0], material)
        self.views = [Symbols(encoding, material) for encoding in ENCODINGS]

    def parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that each piece adds at least, under the encoding that adds the least."""
        return [min(costs) for costs in zip(*(view.parts(pieces) for view in self.views), strict=True)]

    def frame(self, query: Query) -> list[Row]:
        """Empty, as that of cited lines."""
        return []

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        views = [view.rows(query, pieces) for view in self.views]
        tokens = self.material.count([text_of(rows) for rows in views])
        return views[int(tokens.argmin())]


def form(settings: Settings, material: Material) -> Form:
    """The shortest of the four encodings; ties to the first."""
    return _Cheapest(material)
