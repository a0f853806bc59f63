"""A mix of lines and whole sentences that covers most of what is likely evidence within the budget (ours)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from secateur.contexts.encodings import rest_of
from secateur.contexts.forms._cover import Line, Source, covers
from secateur.contexts.piece import Asked, Form, LineTokens, Material, Piece, Ranked, Row, rows_of
from secateur.core.fields import key

NEEDS_GRAPH = True
NEEDS_PROBABILITY = True


@dataclass(frozen=True)
class Settings:
    """What a context is worth, and how likely a ranked passage is evidence."""

    grounding: Literal["triples", "sentences", "both"] = key("write lines, whole sentences, or lines with upgrades")
    mix: float = key("lambda: weight of sentences that are nearly whole, against words that are new", low=0, high=1)
    enough: float = key("share of a sentence's content words from which it counts as whole", low=0.01, high=1)
    words_per_source: float = key("expected words that are worth as much as one whole sentence", low=0.1)
    calibration: dict[str, tuple[float, ...]] = key(
        "order: [slope, intercept] of the logistic map from log(1 + a passage's soft rank) to its probability"
    )
    rank_width: float = key("difference in scores over which one passage is better than another", low=0.001)
    link: float = key(
        "what a sentence that names a rare entity of a chosen one is worth more, as a share", low=0, default=0.0
    )


class _Cover:
    additive = True

    def __init__(self, settings: Settings, material: Material) -> None:
        self.material, self.grounding, self.parts = material, settings.grounding, LineTokens(material.count)
        self.worth = {name: getattr(settings, name) for name in ("mix", "enough", "words_per_source", "link")}

    def _sources(self, ranked: Sequence[Ranked]) -> list[Source]:
        """The ranked passages, each once, with their lines, priced with what joins them."""
        texts, of, edges_of = self.material.texts, {}, self.material.edges_of
        for unit in ranked:  # a ranking of lines has several of one passage
            of.setdefault(unit.passage_id, []).append(unit)
        lines = {}
        for passage, units in of.items():
            wanted = {edge for unit in units for edge in edges_of(unit)}
            own = [edge for edge in edges_of(Ranked(passage)) if edge in wanted]
            lines[passage] = [(e, e.triple[0], rest_of(e.triple, self.material.ambiguous)) for e in own]
        heads = {h: f"{h}:\n" for own in lines.values() for _, h, _ in own}
        rests = {r: f" {r};" for own in lines.values() for _, _, r in own}
        parts = list(dict.fromkeys([*(f"{texts[p]}\n" for p in of), *heads.values(), *rests.values()]))
        tokens = dict(zip(parts, self.material.count(parts).tolist(), strict=True)) if parts else {}
        return [
            Source(
                passage,
                max(unit.p for unit in units),
                texts[passage],
                tokens[f"{texts[passage]}\n"],
                tuple(Line(e.edge_id, h, r, tokens[heads[h]], tokens[rests[r]]) for e, h, r in lines[passage]),
                frozenset(end.casefold() for e in edges_of(Ranked(passage)) for end in (e.triple[0], e.triple[2])),
            )
            for passage, units in of.items()
        ]

    def pieces(self, asked: Asked, ranked: Sequence[Ranked], budgets: Sequence[int]) -> dict[int, list[Piece]]:
        made = covers(self._sources(ranked), asked.text, budgets, grounding=self.grounding, **self.worth)
        known = {edge.edge_id: edge for unit in ranked for edge in self.material.edges_of(unit)}
        return {
            budget: [Piece(c.passage_id, c.text, tuple(known[e] for e in c.edge_ids), c.whole) for c in chosen]
            for budget, chosen in made.items()
        }

    def rows(self, asked: Asked, pieces: Sequence[Piece]) -> list[Row]:
        return rows_of(pieces)


def form(settings: Settings, material: Material) -> Form:
    """Lines chosen inside ranked sentences by expected new words, whole sentences where they are worth it."""
    return _Cover(settings, material)
