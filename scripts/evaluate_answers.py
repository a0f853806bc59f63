"""How good the answers are, what they cost, and what their readers were shown."""

import polars as pl

from secateur.contexts.table import NOTHING, names_passages, reached, reads
from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.template import Question
from secateur.evaluation.answers import answer_scores
from secateur.evaluation.evidence import Case, gold_of
from secateur.evaluation.metric import measure_all, select_metrics
from secateur.evaluation.rows import long_rows
from secateur.models.reader import load
from secateur.stage.contract import main

KEPT = ("evidence_recall", "token_recall")  # of the evidence, in what was read


def _gains(cfg, ctx, questions: list[Question], texts: dict[str, str]) -> list[tuple[str, float]]:
    """What the context read adds to the gold answer's log-probability per token; nothing for no context."""
    lm, found = load(cfg.lm, ctx.cache, ctx.device) if texts else None, []
    for question in ctx.progress(questions, len(questions), "questions"):
        gain = 0.0
        if question.id in texts:
            closed, under = answer_logprobs(
                lm, cfg.ecs, [(question, text) for text in (CLOSED, texts[question.id])], ctx.cache
            )
            gain = under - closed
        found.append((question.id, gain))
    return found


def run(cfg, inputs, outputs, ctx):
    answers = inputs["answers"]
    asked = inputs["questions"].join(answers, on="question_id", how="semi").sort("position")
    questions = [Question(*row) for row in asked.select("question_id", "text", "answer").iter_rows()]
    gold = gold_of(asked, inputs["evidence"], inputs["passages"])
    read, figures = reached(inputs["contexts"], answers, cfg.assembly.budget), []
    sourced = names_passages(inputs["contexts"])
    known = {question: one for (question, _, _), one in reads(read)}
    texts = dict(read.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join("")).iter_rows())
    cases = {q.id: Case(gold[q.id], known.get(q.id, NOTHING), sourced) for q in questions if q.id in gold}
    shown = measure_all(list(cases.values()), (), select_metrics(cfg.eval.metrics, KEPT), "conf/eval/default")
    recall, order = dict(zip(cases, shown, strict=True)), cfg.extra.order
    given = {row["question_id"]: row for row in answers.iter_rows(named=True)}
    for question in questions:
        own = given[question.id]
        found = answer_scores(own["text"], question.answer)
        found |= {"refused": float(own["refused"]), "read_tokens": float(own["prompt_tokens"])}
        found |= {"completion_tokens": float(own["completion_tokens"])}
        if question.id in gold:
            found |= {f"read_{name}": value for name, value in recall[question.id].items()}
        figures += [(question.id, order, None, False, name, value) for name, value in found.items()]
    figures += [(q, order, None, False, "read_gain", gain) for q, gain in _gains(cfg, ctx, questions, texts)]
    outputs["question_metrics"] = long_rows(figures)
    return {"questions": len(questions)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
