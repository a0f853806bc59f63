"""Symbolic forms: ranked units as facts in one encoding, with the source of each row."""

import json
from collections.abc import Iterable, Sequence

from secateur.contexts.encodings import RULES, Fact, Line, Payload, Triple, encode
from secateur.contexts.pack import JOIN
from secateur.contexts.piece import Material, Piece, Query, Ranked, Row

__all__ = ["Symbols"]


def _in_words(triples: Iterable[Triple]) -> str:
    """What symbols stand for: the places and keys of a codebook are no evidence, and neither is the question's own triple."""
    return "; ".join(map(" ".join, triples))


class Symbols:
    """The facts of ranked units in one encoding, with the question's triples if the encoding has rules for them."""

    additive = False  # all facts share a codebook

    def __init__(self, encoding: str, material: Material) -> None:
        self.encoding, self.material = encoding, material

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        """A piece for each unit with new edges; an edge is offered once."""
        seen, pieces = set(), []
        for unit in ranked:
            edges = [edge for edge in self.material.edges_of(unit) if edge.edge_id not in seen]
            seen.update(edge.edge_id for edge in edges)
            if edges:
                pieces.append(Piece(unit.passage_id, "", tuple(edges)))
        return pieces

    def parts(self, pieces: Sequence[Piece]) -> list[int]:
        """Tokens that each piece adds at least.

        words: its triples; lines: its relations and tails, as another piece may have its heads; ids: three numbers an edge;
        matrix: one, as the question may have its triple.
        """
        triples = [[edge.triple for edge in piece.edges] for piece in pieces]
        if self.encoding == "lines" and len({piece.passage_id for piece in pieces}) == len(pieces):
            return self._line_parts(triples)
        if self.encoding == "words":
            texts = [
                "".join(f"{json.dumps(triple, ensure_ascii=False, separators=(',', ':'))}," for triple in stated)
                for stated in triples
            ]
        elif self.encoding == "lines":
            texts = [" ".join(f"{r} {t}" for _, r, t in stated) for stated in triples]
        else:
            texts = [{"ids": "[0,0,0],", "matrix": "0,"}[self.encoding] * len(stated) for stated in triples]
        if not texts:
            return []
        return [int(n) - JOIN * len(stated) for n, stated in zip(self.material.count(texts), triples, strict=True)]

    def _line_parts(self, triples: list[list[Triple]]) -> list[int]:
        """`parts` of cited lines where each passage has one piece: it adds whole lines, with a number of at least one digit."""
        views = [self._view(Payload((), (), tuple(Fact(triple, 1) for triple in stated))) for stated in triples]
        texts = ["".join(text for text, _ in view) + "\n" for view in views]
        return [int(n) - JOIN for n in self.material.count(texts)] if texts else []

    def _view(self, payload: Payload) -> list[Line]:
        return encode(self.encoding, payload, self.material.ambiguous)

    def frame(self, query: Query) -> list[Row]:
        """The rows around the facts."""
        return [*self._rules(), *(Row(text) for text, _ in self._view(self._payload(query)))]

    def _rules(self) -> list[Row]:
        return [Row(RULES[self.encoding] + "\n", says="")] if self.encoding in RULES else []  # they are no evidence

    def _payload(self, query: Query, facts: tuple[Fact, ...] = ()) -> Payload:
        """The three channels; the question itself is included only under the paper's rules, which explain it."""
        triples = query.triples if self.encoding in RULES else ()
        return Payload((*triples, *query.prior_questions), query.prior_answers, facts)

    def rows(self, query: Query, pieces: Sequence[Piece]) -> list[Row]:
        """Rules and view; empty if there is no fact, prior question or prior answer."""
        if not (pieces or query.prior_questions or query.prior_answers):
            return []
        number = {p: n for n, p in enumerate(dict.fromkeys(piece.passage_id for piece in pieces), 1)}
        facts = [(piece.passage_id, edge) for piece in pieces for edge in piece.edges]
        stated = tuple(Fact(edge.triple, number[passage]) for passage, edge in facts)
        view = self._view(self._payload(query, stated))
        places = [n for _, n in view if n is not None] + [len(facts)]
        ends = dict(zip(places, places[1:], strict=False))  # a row of cited lines states all facts up to the next row's
        head = _in_words((*query.prior_questions, *query.prior_answers)) if self.encoding in RULES else None
        return self._rules() + [
            self._row(text, facts[n : ends[n]]) if n is not None else Row(text, says=head) for text, n in view
        ]

    def _row(self, text: str, facts: list) -> Row:
        if self.encoding == "words":
            says = None
        elif self.encoding == "lines":  # the number of the source is no evidence
            says = text.rpartition(" [")[0]
        else:
            says = _in_words(edge.triple for _, edge in facts)
        return Row(text, facts[0][0], tuple(edge.edge_id for _, edge in facts), says=says)
