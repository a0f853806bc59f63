"""Build the pool of each question: its best passages by cheap rankings, and random passages for the null."""

import polars as pl

from secateur.ecs.names import SPEAKER
from secateur.ecs.scoring.plain import names_speaker
from secateur.ecs.selection.pool import candidates, pooled, summed_pairs
from secateur.evaluation.subsets import members
from secateur.models.word_pieces import word_piece_counter
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    passages, questions = inputs["passages"], inputs["questions"]
    subsets = members(questions, inputs["evidence"], {"types": {}, "first": cfg.dataset.first})
    scored, probed = (subsets[name or "all"] for name in (cfg.dataset.scored, cfg.dataset.probed))
    unanswerable = pl.col("type").is_in(list(cfg.dataset.unanswerable)).fill_null(False)  # have no answer to score by
    questions = questions.filter(~unanswerable & pl.col("question_id").is_in(list(scored)))
    rankings = inputs["rankings"].join(questions, on="question_id", how="semi")
    named = names_speaker(summed_pairs(rankings, cfg.ecs.pooled_by), questions, passages).rename({SPEAKER: "value"})
    best = candidates(rankings, named, cfg.ecs.pooled_by, cfg.ecs.pool, cfg.ecs.pool_aware)
    lengths = word_piece_counter(cfg.embedder.model)(passages["text"].to_list())
    measured = passages.select("passage_id", "group_id", tokens=pl.Series(lengths))
    outputs["pool"] = pool = pooled(best, questions, measured, probed, cfg.ecs.draws, cfg.ecs.seed)
    return {
        "questions": questions.height,
        "pooled": pool.height,
        "probed": questions["question_id"].is_in(list(probed)).sum(),
    }


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
