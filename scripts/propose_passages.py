"""Build the pool of each question: its best passages by cheap rankings or all of them, and random ones for the null."""

import polars as pl

from secateur.ecs.names import SPEAKER
from secateur.ecs.scoring.plain import names_speaker
from secateur.ecs.selection.pool import candidates, everything, pooled, summed_pairs
from secateur.evaluation.subsets import members
from secateur.models.word_pieces import word_piece_counter
from secateur.stage.contract import main


def _ranked(ecs, inputs, questions: pl.DataFrame) -> pl.DataFrame:
    """The candidates that cheap rankings find."""
    rankings = inputs["rankings"].join(questions, on="question_id", how="semi")
    pairs = summed_pairs(rankings, ecs.pooled_by)
    named = names_speaker(pairs, questions, inputs["passages"]).rename({SPEAKER: "value"})
    return candidates(rankings, named, ecs.pooled_by, ecs.pool, ecs.pool_aware)


def run(cfg, inputs, outputs, ctx):
    passages, questions = inputs["passages"], inputs["questions"]
    subsets = members(questions, inputs["evidence"], {"types": {}, "first": cfg.dataset.first})
    scored, probed = (subsets[name or "all"] for name in (cfg.dataset.scored, cfg.dataset.probed))
    unanswerable = pl.col("type").is_in(list(cfg.dataset.unanswerable)).fill_null(False)  # have no answer to score by
    questions = questions.filter(~unanswerable & pl.col("question_id").is_in(list(scored)))
    best = everything(questions, passages) if cfg.ecs.pool is None else _ranked(cfg.ecs, inputs, questions)
    lengths = word_piece_counter(cfg.embedder.model)(passages["text"].to_list())
    measured = passages.select("passage_id", "group_id", tokens=pl.Series(lengths))
    outputs["pool"] = pool = pooled(best, questions, measured, probed, cfg.ecs.draws, cfg.ecs.seed)
    return {
        "questions": questions.height,
        "pooled": pool.height,
        "probed": questions["question_id"].is_in(list(probed)).sum(),
    }


main(run, globals().get("snakemake"))
