"""Build the pool of each question: its best passages by cheap rankings or all of them, and random ones for the null."""

import polars as pl

from secateur.ecs.names import SPEAKER
from secateur.ecs.scoring.plain import names_speaker
from secateur.ecs.selection.pool import candidates, everything, pooled, summed_pairs
from secateur.evaluation.subsets import scored_questions
from secateur.models.word_pieces import word_piece_counter
from secateur.stage.contract import main


def _ranked(ecs, inputs, questions: pl.DataFrame) -> pl.DataFrame:
    """The candidates that cheap rankings find."""
    rankings = inputs["rankings"].join(questions, on="question_id", how="semi")
    pairs = summed_pairs(rankings, ecs.pooled_by)
    named = names_speaker(pairs, questions, inputs["passages"]).rename({SPEAKER: "value"})
    return candidates(rankings, named, ecs.pooled_by, ecs.pool, ecs.pool_aware)


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"]
    questions, probed = scored_questions(inputs["questions"], inputs["evidence"], cfg.dataset)
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
