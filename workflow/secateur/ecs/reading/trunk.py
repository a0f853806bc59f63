"""Contexts that several probes go on from: each is read once."""

from collections.abc import Sequence
from dataclasses import dataclass

from secateur.ecs.reading.engine import prefilled
from secateur.ecs.reading.pairs import Pairs, encode
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM, Prefix
from secateur.models.encoding import Encoded

__all__ = ["Trunk", "trunk_of"]


@dataclass(frozen=True)
class Trunk:
    """Some pairs' contexts without an answer. asked: the place of each one's question; held: its tokens, and their keys and
    values but for the last token's."""

    contexts: Sequence[Encoded]
    asked: Sequence[int]
    held: Sequence[tuple[Sequence[int], Prefix]]


def trunk_of(lm: CausalLM, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs) -> Trunk:
    """The contexts of some pairs, read. All are held at once."""
    shown = [[passages[p]] for _, p in pairs]
    contexts = encode(lm, cfg, [questions[q] for q, _ in pairs], shown, answered=False)
    ids = [one.ids for one in contexts]
    return Trunk(contexts, [q for q, _ in pairs], list(zip(ids, prefilled(lm, ids), strict=True)))
