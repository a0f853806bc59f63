"""Compute the statistics of each pooled passage under a language model, for one shard of the questions (ECS, section 3)."""

import polars as pl

from secateur.ecs.reading.sweep import statistics, statistics_frame
from secateur.ecs.selection.pool import shard_of, with_preceding
from secateur.models.reader import load
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    questions = shard_of(inputs["questions"], ctx.shard)
    pool = inputs["pool"].join(questions, on="question_id", how="semi").sort("question_id", "rank", nulls_last=True)
    questions = questions.join(pool, on="question_id", how="semi", maintain_order="left")
    passages = with_preceding(inputs["passages"], cfg.ecs.before)
    lm = load(cfg.lm, ctx.cache, ctx.device)
    frames = statistics(lm, questions, passages, cfg.ecs, pool, cfg.ecs.probes, ctx.cache, ctx.log)
    outputs["statistics"] = table = pl.concat([statistics_frame([]), *frames])
    cut = int(table["cut"].sum())
    if cut:
        ctx.warn(f"{cut} tokens of context did not fit the window of {cfg.lm.window} and were cut")
    tokens = int(table["prompt_tokens"].sum() + table["answer_tokens"].sum())
    ctx.counts |= {"tokens_cut": cut, "tokens_read": tokens}
    return {"questions": questions.height, "pairs": pool.height}


main(run, globals().get("snakemake"))
