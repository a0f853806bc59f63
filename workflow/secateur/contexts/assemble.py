"""Assemble contexts from a ranking: write, pack and place its units within a budget, the same way for every ranker.

    assemble(query, ranked units) = rows(placed(pack(worth a price(pieces(ranked)), budget)))

A budget counts the text as it is sent, with its separators, numbers, headers and rules. A price counts what the packer takes
a piece to add: the tokens of its line, or the form's `parts`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from secateur.contexts.pack import JOIN, Packing, pack, pack_shared
from secateur.contexts.piece import Context, Form, LineTokens, Material, Piece, Query, Ranked, Row, text_of
from secateur.contexts.placement import Placement, placed
from secateur.contexts.price import limit, lowest_price

__all__ = ["Assembly"]


@dataclass(frozen=True)
class Assembly:
    """How rankings become contexts. order: place of each passage in the text, by id."""

    form: Form
    packing: Packing
    placement: Placement
    material: Material
    order: Mapping[str, int]

    def contexts(
        self, query: Query, ranked: Sequence[Ranked], budgets: Sequence[int], price: float | None = None
    ) -> dict[int, Context]:
        """The context within each budget of tokens. price: for tokens; pieces that are not worth it are passed over."""
        pieces = self._pieces(query, ranked)
        costs = self._parts(pieces)
        if price is not None:
            kept = [n for n, most in enumerate(self._limits(pieces, costs, ranked)) if most > price]
            pieces, costs = [pieces[n] for n in kept], [costs[n] for n in kept]
        return {budget: self._within(query, pieces, costs, budget) for budget in budgets}

    def price_for(self, asked: Sequence[tuple[Query, Sequence[Ranked]]], mean_tokens: float) -> float:
        """The lowest price at which contexts without a budget have at most so many tokens in the mean over questions."""
        offers = []
        for query, ranked in asked:
            pieces = self._pieces(query, ranked)
            limits = self._limits(pieces, self._parts(pieces), ranked)
            offers.append((query, [(piece, most) for piece, most in zip(pieces, limits, strict=True) if most > 0]))

        def mean(price: float) -> float:
            sent = [self._rows(query, [piece for piece, most in offer if most > price]) for query, offer in offers]
            texts = [text_of(rows) for rows in sent if rows]
            return float(self.material.count(texts).sum()) / len(sent) if texts else 0.0

        return lowest_price((most for _, offer in offers for _, most in offer), mean, mean_tokens)

    def _pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        pieces = self.form.pieces(query, ranked)
        if not isinstance(pieces, list):
            raise TypeError(f"pieces() gave a {type(pieces).__name__}, a list of pieces is needed")
        return pieces

    @staticmethod
    def _limits(pieces: Sequence[Piece], costs: Sequence[int], ranked: Sequence[Ranked]) -> list[float]:
        """The price from which on each piece is not sent, by the value of its passage and the tokens that the packer counts."""
        values = {unit.passage_id: unit.value for unit in ranked}
        if any(values.get(piece.passage_id) is None for piece in pieces):
            raise ValueError(
                "pieces() gave a piece of no ranked passage with a value, which has no worth under a price"
            )
        return [limit(values[piece.passage_id], tokens) for piece, tokens in zip(pieces, costs, strict=True)]

    def _parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that each piece adds at least: from the form, else those of its text minus possible joins."""
        if hasattr(self.form, "parts"):
            return self.form.parts(pieces)
        return [max(tokens - JOIN, 0) for tokens in LineTokens(self.material.count)(pieces)]

    def _within(self, query: Query, pieces: list[Piece], costs: Sequence[int], budget: int) -> Context:
        sizes: dict[tuple[int, ...], int] = {}  # most often the packer has counted the final text already

        def size(chosen: list[int]) -> int:
            if (key := tuple(chosen)) not in sizes:
                sizes[key] = self._tokens(self._rows(query, [pieces[n] for n in chosen]))
            return sizes[key]

        if getattr(self.form, "additive", False):
            chosen = pack(costs, budget, self.packing, size)
        else:
            frame = self._tokens(self.form.frame(query)) if hasattr(self.form, "frame") else 0
            chosen = pack_shared(costs, budget, self.packing, size, frame)
        return Context(self._rows(query, [pieces[n] for n in chosen]), size(chosen))

    def _rows(self, query: Query, pieces: list[Piece]) -> list[Row]:
        return self.form.rows(query, placed(pieces, self.placement, self.order))

    def _tokens(self, rows: Sequence[Row]) -> int:
        return int(self.material.count([text_of(rows)])[0]) if rows else 0
