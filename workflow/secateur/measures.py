"""What the evaluation stages share: gold by question, the semantic measure, figures as rows."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from secateur.evaluation import Gold, semantic
from secateur.models.embedder import Embedder

__all__ = ["Semantic", "gold_of", "long_rows"]


def gold_of(questions: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> dict[str, Gold]:
    """Gold of every question that has evidence, in file order."""
    texts = dict(passages.select("passage_id", "text").iter_rows())
    rows = evidence.sort("question_id", "n").partition_by("question_id", as_dict=True)
    found = {}
    for qid, question in questions.sort("position").select("question_id", "text").iter_rows():
        if (qid,) not in rows:
            continue
        own = rows[(qid,)]
        resolved = {p: texts[p] for p in own["passage_id"] if p is not None}
        stated = [texts[p] if t is None else t for p, t in own.select("passage_id", "text").iter_rows()]
        found[qid] = Gold(question, resolved, tuple(stated))
    return found


class Semantic:
    """semantic@B: how close the block's units come to the gold texts, in the embedder's space."""

    def __init__(self, cfg, ctx, gold: dict[str, Gold]) -> None:
        self.embedder, self.gold, self.place = Embedder(cfg.embedder, ctx.cache, ctx.log), gold, {}
        self.vectors = np.zeros((0, cfg.embedder.dim), np.float32)

    def prepare(self, units: Sequence[str]) -> None:
        """Embed every unit and every gold text once."""
        texts = list(dict.fromkeys([*units, *(t for g in self.gold.values() for t in g.texts)]))
        self.vectors, self.place = self.embedder.embed(texts), {t: n for n, t in enumerate(texts)}

    def of(self, question_id: str, units: Sequence[str]) -> dict[str, float]:
        """The measure of one block."""
        gold, block = ([self.place[t] for t in part] for part in (self.gold[question_id].texts, units))
        return {"semantic": semantic(self.vectors[gold], self.vectors[block])}


def long_rows(rows: list[tuple], track: str | None) -> pl.DataFrame:
    """(question_id, scorer, answer_aware, metric, value) rows as the `question_metrics` table."""
    schema = {
        "question_id": pl.String,
        "scorer": pl.String,
        "answer_aware": pl.Boolean,
        "metric": pl.String,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(track=pl.lit(track, pl.String))
