"""The pool of each question: its best passages by a cheap ranking, and passages by chance for the null."""

import polars as pl

from secateur.ecs.pool import candidates, pooled
from secateur.models.word_pieces import word_piece_counter
from secateur.subsets import members


def run(cfg, inputs, outputs, ctx):
    passages, refused = inputs["passages"], pl.col("type").is_in(list(cfg.dataset.unanswerable))
    questions = inputs["questions"].filter(~refused.fill_null(False))  # no answer-aware scorer could read them
    lengths = word_piece_counter(cfg.embedder.model)(passages["text"].to_list())
    measured = passages.select("passage_id", "group_id", tokens=pl.Series(lengths))
    chosen = candidates(inputs["utilities"], cfg.ecs.pooled_by, cfg.ecs.pool, cfg.ecs.pool_aware)
    spec = {"types": {}, "first": cfg.dataset.first}
    probed = members(questions, inputs["evidence"], spec)[cfg.dataset.probed or "all"]
    outputs["pool"] = pool = pooled(chosen, questions, measured, probed, cfg.ecs.draws, cfg.ecs.seed)
    return {"questions": questions.height, "pooled": pool.height, "probed": len(probed)}
