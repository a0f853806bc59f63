"""Measure the answer gain of contexts at every budget, for one shard of a sample of questions."""

from secateur.contexts.table import made_for, texts, unmade
from secateur.core.shards import part_of
from secateur.ecs.answer_gain import gain_rows
from secateur.ecs.reading.template import Question
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import answered
from secateur.models.reader import load
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    sample = answered(inputs["questions"], cfg.dataset.split, cfg.dataset.gain)
    contexts = {(q, b): text for (q, _, b), text in texts(inputs["contexts"]).items()}  # of a single ranking
    questions = [Question(*row) for row in sample.select("question_id", "text", "answer").iter_rows()]
    lm, aware = load(cfg.lm, ctx.cache, ctx.device), bool(inputs["contexts"]["answer_aware"].any())
    budgets = made_for(inputs["contexts"], cfg.eval.gain_budgets)
    control = next(iter(made_for(inputs["contexts"], [cfg.eval.gain_control])), None)
    shard = part_of(len(questions), ctx.axes["shard"])
    unknown = unmade(inputs["contexts"], {*budgets, cfg.eval.gain_control})
    rows = gain_rows(lm, cfg.ecs, questions, contexts, budgets, control, shard, ctx, unknown)
    outputs["question_metrics"] = long_rows([(q, cfg.extra.order, None, aware, m, v) for q, m, v in rows])
    return {"questions": len(shard)}


main(run, globals().get("snakemake"))
