"""From a ranking to contexts: a form, a packing, a placement and a budget of the reader's tokens, the same for every ranker.

    assemble(question, ranked units) = rows(placed(pack(pieces(ranked), budget)))

What is counted is what is sent: sizes are of the text with its separators, numbers, headers and rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from secateur.contexts.pack import JOIN, Packing, pack, pack_shared
from secateur.contexts.piece import Asked, Context, Form, LineTokens, Material, Piece, Ranked, Row, text_of
from secateur.contexts.placement import Placement, placed

__all__ = ["Assembly"]


@dataclass(frozen=True)
class Assembly:
    """One way of writing rankings. order: each passage's place in the text."""

    form: Form
    packing: Packing
    placement: Placement
    material: Material
    order: Mapping[str, int]

    def contexts(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, Context]:
        """The context within each budget."""
        offered, parts = self.form.pieces(asked, ranked, budgets), {}
        if set(offered) != set(budgets):
            raise ValueError(f"pieces() offers them for budgets {sorted(offered)}, asked for {sorted(budgets)}")
        for pieces in offered.values():
            if id(pieces) not in parts:  # most forms offer the same for every budget
                parts[id(pieces)] = self._parts(pieces)
        return {b: self._within(asked, pieces, parts[id(pieces)], b) for b, pieces in offered.items()}

    def _parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that each piece adds: as the form says, else at least those of its own text."""
        if hasattr(self.form, "parts"):
            return self.form.parts(pieces)
        return [max(tokens - JOIN, 0) for tokens in LineTokens(self.material.count)(pieces)]

    def _within(self, asked: Asked, pieces: list[Piece], parts: Sequence[int], budget: int) -> Context:
        sizes: dict[tuple[int, ...], int] = {}  # what is sent was most often counted while it was packed

        def size(chosen: list[int]) -> int:
            if (key := tuple(chosen)) not in sizes:
                sizes[key] = self._tokens(self._rows(asked, [pieces[n] for n in chosen]))
            return sizes[key]

        if getattr(self.form, "additive", False):
            chosen = pack(parts, budget, self.packing, size)
        else:
            frame = self._tokens(self.form.frame(asked)) if hasattr(self.form, "frame") else 0
            chosen = pack_shared(parts, budget, self.packing, size, frame)
        return Context(self._rows(asked, [pieces[n] for n in chosen]), size(chosen))

    def _rows(self, asked: Asked, pieces: list[Piece]) -> list[Row]:
        return self.form.rows(asked, placed(pieces, self.placement, self.order))

    def _tokens(self, rows: Sequence[Row]) -> int:
        return int(self.material.count([text_of(rows)])[0]) if rows else 0
