"""What the evaluation stages share: the semantic measure."""

from collections.abc import Sequence

import numpy as np

from secateur.evaluation.evidence import Gold, semantic
from secateur.models.embedder import Embedder

__all__ = ["Semantic"]


class Semantic:
    """semantic@B: how close a context's rows come to the gold texts, in the embedder's space."""

    def __init__(self, cfg, ctx, gold: dict[str, Gold]) -> None:
        self.embedder, self.gold, self.place = Embedder(cfg.embedder, ctx.cache, ctx.log), gold, {}
        self.vectors = np.zeros((0, cfg.embedder.dim), np.float32)

    def prepare(self, units: Sequence[str]) -> None:
        """Embed every unit and every gold text once."""
        texts = list(dict.fromkeys([*units, *(t for g in self.gold.values() for t in g.texts)]))
        self.vectors, self.place = self.embedder.embed(texts), {t: n for n, t in enumerate(texts)}

    def of(self, question_id: str, units: Sequence[str]) -> dict[str, float]:
        """The measure of one context."""
        gold, block = ([self.place[t] for t in part] for part in (self.gold[question_id].texts, units))
        return {"semantic": semantic(self.vectors[gold], self.vectors[block])}
