"""Rank the passages of each question's group with every ranker of a list."""

from secateur.config.limits import unlimited
from secateur.config.plugins import rankers_that
from secateur.core.shards import part_of
from secateur.ranking.rank import rank
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    if "rankings" in inputs:
        outputs["rankings"] = inputs["rankings"]
        return {"questions": 0}
    evidence = inputs["evidence"] if "evidence" in inputs else None
    is_limited = unlimited(ctx.axes["dataset"])[1] is not None
    outputs["rankings"] = rank(cfg, inputs["passages"], inputs["questions"], evidence, ctx, is_limited, ctx.shard)
    questions = len(part_of(inputs["questions"].height, ctx.shard))
    characters = inputs["passages"]["text"].str.len_chars().sum()
    return {
        "questions": questions,
        "requeries": questions * rankers_that("ASKS_AGAIN", cfg.rankers.scorers),
        "token_characters": characters if rankers_that("EMBEDS_TOKENS", cfg.rankers.scorers) else 0,
    }


main(run, globals().get("snakemake"))
