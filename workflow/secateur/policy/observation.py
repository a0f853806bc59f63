"""Observation of a question by the policy (paper 2.8), the same in training and in use."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.contexts.session import Unit
from secateur.ecs.reading.template import Question
from secateur.models.causal import CausalLM
from secateur.models.embedder import Embedder
from secateur.models.word_pieces import word_piece_counter
from secateur.policy.closed_book import closed_book
from secateur.policy.features import Channel, features
from secateur.policy.shown import Shown

__all__ = ["Observer"]


class Observer:
    """Features of questions. cfg: embedder, ecs; lm: the reader; triples: their number by question.

    candidates: the table, whose fine scores tell how concentrated retrieval is; cache: of the reader's answers.
    """

    def __init__(
        self, cfg, embedder: Embedder, lm: CausalLM, triples: Mapping[str, int], candidates: pl.DataFrame, cache: Path
    ) -> None:
        self.embedder, self.lm, self.ecs, self.cache = embedder, lm, cfg.ecs, cache
        self.triples = triples
        self.count = word_piece_counter(cfg.embedder.model)
        best = candidates.sort("question_id", "rank").group_by("question_id", maintain_order=True)
        self.fine = dict(best.agg("fine").iter_rows())

    def shown(self, units: Sequence[Unit]) -> Shown:
        """A channel's units with the vectors of their words."""
        return Shown(tuple(units), self.embedder.embed([unit.text for unit in units]))

    def features(self, question_id: str, text: str, channels: Mapping[str, Shown], budget: int) -> NDArray[np.float64]:
        """One question's features, in the order of `feature_names(channels)`. budget: tokens that its evidence may take."""
        sizes = {name: Channel(self._tokens(shown), shown.vectors) for name, shown in channels.items()}
        length = int(self.count([text])[0])
        fine = np.array(self.fine.get(question_id, []))
        closed = closed_book(self.lm, self.ecs, Question(question_id, text, ""), self.cache)
        return features(length, self.triples[question_id], fine, closed, budget, sizes)

    def _tokens(self, channel: Shown) -> int:
        return int(self.count([unit.text for unit in channel.units]).sum()) if channel.units else 0
