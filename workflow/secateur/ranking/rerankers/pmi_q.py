"""Rerank by query likelihood under a language model, without the answer (UPR; LongLLMLingua).

pmi_q = log p(q | passage) - log p(q), in nats. Its z-score over a question's passages that were read, times a weight, is
added to their ranking scores. With several steps passages are chosen one by one, and each is read after those chosen before,
as in ECS's algorithm 1.
"""

from dataclasses import dataclass

import polars as pl

from secateur.core.fields import key


@dataclass(frozen=True)
class Settings:
    """Language model, depth and score weight."""

    lm: str = key("option of conf/lm, the model that reads the passages")
    top: int = key("passages read for each question", low=1)
    weight: float = key("weight of pmi_q (z-score over the passages read) in the ranking score", low=0)
    steps: int = key(
        "passages chosen one by one, the others read again after each; 1: each is read alone", low=1, default=1
    )
    titles: bool = key("use the article's title as speaker of passages without one", default=False)


def rerank(settings: Settings, rankings: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame, cfg, ctx):
    """The rankings in their new order. cfg: `ecs`, and in `extra.model` the option that `lm` names."""
    from secateur.config.models import Lm
    from secateur.contexts.piece import head_of
    from secateur.core.fields import from_dict
    from secateur.ecs.reading.template import require_pmi_q
    from secateur.ecs.rerank import choose_in_turn, pmi_q, pool_of
    from secateur.models.reader import load

    require_pmi_q(cfg.ecs, f"reranker {settings.lm}")
    pool = pool_of(rankings, settings.top)
    pooled = questions.join(pool, on="question_id", how="semi").sort("position")
    lm = load(from_dict(Lm, cfg.extra.model, f"conf/lm/{settings.lm}"), ctx.cache, ctx.device)
    shown = passages.sort("doc_id", "position").with_columns(speaker=head_of(settings.titles))

    def read(pairs: pl.DataFrame, chosen) -> pl.DataFrame:
        return pmi_q(lm, pooled, shown, cfg.ecs, pairs, ctx.cache, ctx.log, chosen)

    return choose_in_turn(rankings, pool, settings.steps, settings.weight, read)
