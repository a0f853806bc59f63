"""Answer lift of the evidence blocks at every budget, on a sample of the questions."""

import polars as pl

from secateur.ecs.answer_gain import lift_rows
from secateur.ecs.reading.template import Question
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import answered
from secateur.models.causal import load
from secateur.pipeline.contract import main


def run(cfg, inputs, outputs, ctx):
    asked = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.lift)
    blocks = inputs["blocks"].join(asked, on="question_id", how="semi").sort("question_id", "budget", "n")
    texts = blocks.group_by("question_id", "budget", maintain_order=True).agg(pl.col("text").str.join("\n"))
    contexts = {(q, b): text for q, b, text in texts.iter_rows()}
    questions = [Question(*row) for row in asked.select("question_id", "text", "answer").iter_rows()]
    lm = load(cfg.lm, ctx.cache, ctx.device)
    rows = lift_rows(lm, cfg.ecs, questions, contexts, cfg.eval.lift_budgets, cfg.eval.lift_control, ctx)
    outputs["question_metrics"] = long_rows([(q, None, False, m, v) for q, m, v in rows], ctx.axes["track"])
    return {"questions": len(questions)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
