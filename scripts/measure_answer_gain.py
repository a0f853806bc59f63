"""Measure the answer gain of contexts at every budget, for one shard of a sample of questions."""

from secateur.contexts.table import OWN_LENGTH, texts
from secateur.core.layout import LENGTH, options_of, own_length
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
    lm = load(cfg.lm, ctx.cache, ctx.device)
    aware = bool(inputs["contexts"]["answer_aware"].any())
    options = options_of(ctx.axes)
    length = own_length(options)  # the system whose contexts have as many tokens
    budgets, control = cfg.dataset.gain_at or cfg.eval.gain_budgets, cfg.eval.gain_control
    if length:  # what no context was made for elsewhere is not measured
        questions = [question for question in questions if (question.id, OWN_LENGTH) in contexts]
        budgets, control = [OWN_LENGTH], OWN_LENGTH
    shard = part_of(len(questions), ctx.shard)
    rows = gain_rows(lm, cfg.ecs, questions, contexts, budgets, control, shard, ctx, length)
    if options.get(LENGTH):  # a closed book is the same at any length
        rows = [row for row in rows if row[1] != "closed_book"]
    outputs["question_metrics"] = long_rows([(q, cfg.extra.order, None, aware, m, v) for q, m, v in rows])
    return {"questions": len(shard)}


main(run, globals().get("snakemake"))
