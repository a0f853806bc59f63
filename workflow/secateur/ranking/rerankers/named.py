"""Rerank by the names in the question: the bonus of `named_two_step` and `beam`, for a ranking of any system.

A passage of an article that the question names gains `named` times the idf of the article's topic, on top of the z-score
of its place in the ranking.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import polars as pl

from secateur.core.fields import key

GPU = False


@dataclass(frozen=True)
class Settings:
    """The bonus, and how names are told."""

    names: str = key(
        "option of conf/consolidation, whose `joins`, `skipped` and `longest` tell names", default="default"
    )
    named: float = key("gain of passages of an article that the question names, times its idf", low=0, default=10.0)


def rerank(settings: Settings, rankings: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame, cfg, ctx):
    """The rankings in their new order; in their old one, values included, without a bonus.

    cfg: in `extra.model` the option that `names` names.
    """
    from secateur.ranking.group import z_scores
    from secateur.ranking.rank import group_of
    from secateur.ranking.scorers.two_step import names_graph

    if not settings.named:
        return rankings
    options = SimpleNamespace(**cfg.extra.model)
    options.joins, options.skipped = tuple(options.joins), tuple(options.skipped)
    by_question = rankings.partition_by("question_id", as_dict=True, maintain_order=True)
    reranked = []
    for asked in questions.sort("position").partition_by("group_id", maintain_order=True):
        choices = passages.filter(pl.col("group_id") == asked["group_id"][0]).sort("doc_id", "position")
        graph = names_graph(options, group_of(choices, lambda texts: texts))
        places = {passage: n for n, passage in enumerate(choices["passage_id"])}
        for question, text in asked.select("question_id", "text").iter_rows():
            if (ranked := by_question.get((question,))) is None:
                continue
            idf = graph.topic_idf(graph.named_entities(text, options.longest))
            gain = settings.named * idf[[places[passage] for passage in ranked["passage_id"]]]
            value = z_scores(ranked["value"].to_numpy()[None].astype(float))[0] + gain
            order = np.argsort(-value, kind="stable")
            moved = ranked[order.tolist()].with_columns(
                value=pl.Series(value[order], dtype=pl.Float32), rank=pl.Series(range(len(order)), dtype=pl.Int32)
            )
            reranked.append(moved)
    return pl.concat(reranked) if reranked else rankings
