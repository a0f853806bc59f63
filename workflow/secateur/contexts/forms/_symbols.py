"""What the encodings share: ranked units as facts, a view of them, its rows with their sources."""

import json
from collections.abc import Sequence

from secateur.contexts.encodings import RULES, Fact, Line, Payload, Triple, encode
from secateur.contexts.pack import JOIN
from secateur.contexts.piece import Asked, Material, Piece, Ranked, Row

__all__ = ["Symbols"]


class Symbols:
    """Facts of the ranked units under one encoding, with the question's triples where the encoding has rules for them."""

    additive = False  # a codebook is shared by all facts

    def __init__(self, encoding: str, material: Material) -> None:
        self.encoding, self.material = encoding, material

    def pieces(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, list[Piece]]:
        """A piece for each unit that has edges; an edge that was offered before is not repeated."""
        seen, found = set(), []
        for unit in ranked:
            edges = [edge for edge in self.material.edges_of(unit) if edge.edge_id not in seen]
            seen.update(edge.edge_id for edge in edges)
            if edges:
                found.append(Piece(unit.passage_id, "", tuple(edges)))
        return dict.fromkeys(budgets, found)

    def parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that a piece adds at least: its triples in words, what it says of a head that is there already, numbers
        for its edges."""
        triples = [[edge.triple for edge in piece.edges] for piece in pieces]
        if self.encoding == "lines" and len({piece.passage_id for piece in pieces}) == len(pieces):
            return self._own_lines(triples)
        if self.encoding == "words":
            said = [
                "".join(f"{json.dumps(one, ensure_ascii=False, separators=(',', ':'))}," for one in own)
                for own in triples
            ]
        elif self.encoding == "lines":
            said = [" ".join(f"{r} {t}" for _, r, t in own) for own in triples]
        else:
            said = ["[0,0,0]," * len(own) for own in triples]
        return (
            [int(n) - JOIN * len(own) for n, own in zip(self.material.count(said), triples, strict=True)]
            if said
            else []
        )

    def _own_lines(self, triples: list[list[Triple]]) -> list[int]:
        """The same where every passage has one piece: its lines are its own, and its number has a digit at least."""
        views = [self._view(Payload((), (), tuple(Fact(triple, 1) for triple in own))) for own in triples]
        said = ["".join(text for text, _ in view) + "\n" for view in views]
        return [int(n) - JOIN for n in self.material.count(said)] if said else []

    def _view(self, payload: Payload) -> list[Line]:
        return encode(self.encoding, payload, self.material.ambiguous)

    def frame(self, asked: Asked) -> list[Row]:
        """What stands around the facts."""
        return [*self._rules(), *(Row(text) for text, _ in self._view(self._payload(asked)))]

    def _rules(self) -> list[Row]:
        return [Row(RULES[self.encoding] + "\n")] if self.encoding in RULES else []

    def _payload(self, asked: Asked, facts: tuple[Fact, ...] = ()) -> Payload:
        """The three channels. The question itself is among those asked only where the rules say what that is."""
        own = asked.triples if self.encoding in RULES else ()
        return Payload((*own, *asked.before), asked.known, facts)

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        """Rules, members and facts of the view; nothing where there is neither a fact nor anything asked or answered
        before."""
        if not (pieces or asked.before or asked.known):
            return []
        number = {p: n for n, p in enumerate(dict.fromkeys(piece.passage_id for piece in pieces), 1)}
        facts = [(piece.passage_id, edge) for piece in pieces for edge in piece.edges]
        stated = tuple(Fact(edge.triple, number[passage]) for passage, edge in facts)
        view = self._view(self._payload(asked, stated))
        places = [n for _, n in view if n is not None] + [len(facts)]
        ends = dict(zip(places, places[1:], strict=False))  # a row of cited lines states all facts up to the next one
        return self._rules() + [self._row(text, facts[n : ends[n]] if n is not None else []) for text, n in view]

    def _row(self, text: str, facts: list) -> Row:
        if not facts:
            return Row(text)
        if self.encoding == "words":
            says = None
        elif self.encoding == "lines":  # the number of a source is no word of the evidence
            says = text.rpartition(" [")[0]
        else:
            says = "; ".join(" ".join(e.triple) for _, e in facts)
        return Row(text, facts[0][0], tuple(edge.edge_id for _, edge in facts), says=says)
