"""Assemble contexts from a ranking: write, pack and place its units within a budget, the same way for every ranker.

    assemble(query, ranked units) = rows(placed(pack(pieces(ranked), budget)))

A budget counts the text as it is sent, with its separators, numbers, headers and rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from secateur.contexts.pack import JOIN, Packing, pack, pack_shared
from secateur.contexts.piece import Context, Form, LineTokens, Material, Piece, Query, Ranked, Row, text_of
from secateur.contexts.placement import Placement, placed

__all__ = ["Assembly"]


@dataclass(frozen=True)
class Assembly:
    """How rankings become contexts. order: place of each passage in the text, by id."""

    form: Form
    packing: Packing
    placement: Placement
    material: Material
    order: Mapping[str, int]

    def contexts(self, query: Query, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, Context]:
        """The context within each budget of tokens."""
        pieces = self.form.pieces(query, ranked)
        if not isinstance(pieces, list):
            raise TypeError(f"pieces() gave a {type(pieces).__name__}, a list of pieces is needed")
        parts = self._parts(pieces)
        return {budget: self._within(query, pieces, parts, budget) for budget in budgets}

    def _parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that each piece adds at least: from the form, else those of its text minus possible joins."""
        if hasattr(self.form, "parts"):
            return self.form.parts(pieces)
        return [max(tokens - JOIN, 0) for tokens in LineTokens(self.material.count)(pieces)]

    def _within(self, query: Query, pieces: list[Piece], parts: Sequence[int], budget: int) -> Context:
        sizes: dict[tuple[int, ...], int] = {}  # most often the packer has counted the final text already

        def size(chosen: list[int]) -> int:
            if (key := tuple(chosen)) not in sizes:
                sizes[key] = self._tokens(self._rows(query, [pieces[n] for n in chosen]))
            return sizes[key]

        if getattr(self.form, "additive", False):
            chosen = pack(parts, budget, self.packing, size)
        else:
            frame = self._tokens(self.form.frame(query)) if hasattr(self.form, "frame") else 0
            chosen = pack_shared(parts, budget, self.packing, size, frame)
        return Context(self._rows(query, [pieces[n] for n in chosen]), size(chosen))

    def _rows(self, query: Query, pieces: list[Piece]) -> list[Row]:
        return self.form.rows(query, placed(pieces, self.placement, self.order))

    def _tokens(self, rows: Sequence[Row]) -> int:
        return int(self.material.count([text_of(rows)])[0]) if rows else 0
