"""The encoding that says the chosen facts in the fewest tokens of the reader, header included (paper 2.6)."""

from collections.abc import Sequence

from secateur.config.plugins import NoSettings as Settings
from secateur.contexts.encodings import ENCODINGS
from secateur.contexts.forms._symbols import Symbols
from secateur.contexts.piece import Asked, Form, Material, Piece, Row, text_of

NEEDS_GRAPH = True
SYMBOLS = True


class _Cheapest(Symbols):
    def __init__(self, material: Material) -> None:
        super().__init__("ids", material)  # which adds least for a fact
        self.views = [Symbols(encoding, material) for encoding in ENCODINGS]

    def frame(self, asked: Asked) -> list[Row]:
        """That of the cited lines, which is nothing."""
        return []

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        made = [view.rows(asked, pieces) for view in self.views]
        tokens = self.material.count([text_of(rows) for rows in made])
        return made[int(tokens.argmin())]


def form(settings: Settings, material: Material) -> Form:
    """Whichever of the four encodings is shortest; ties to the first."""
    return _Cheapest(material)
