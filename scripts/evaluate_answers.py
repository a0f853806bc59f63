"""Evaluate answers: similarity to the gold answer, tokens, and the evidence in what their readers were shown."""

import polars as pl

from secateur.answers.ending import FAILED
from secateur.contexts.table import NOTHING, SEARCHED, reached, reads
from secateur.datasets.schema import of_classes
from secateur.ecs.answer_gain import CLOSED, CUT, answer_logprobs, tokens_cut
from secateur.ecs.reading.template import Question
from secateur.evaluation.answers import answer_scores
from secateur.evaluation.evidence import Case, gold_of, has_sources
from secateur.evaluation.metric import measure_all, select_metrics
from secateur.evaluation.rows import long_rows
from secateur.evaluation.typed import is_typed
from secateur.models.reader import load
from secateur.stage.contract import main

READ_METRICS = ("evidence_recall", "token_recall")  # of the context that reached the prompt


def _gains(cfg, ctx, questions: list[Question], texts: dict[str, str]) -> list[tuple[str, float]]:
    """(question id, answer gain of the context that was read); 0 without a context."""
    lm, gains, cut = load(cfg.lm, ctx.cache, ctx.device) if texts else None, [], 0
    for question in ctx.progress(questions, len(questions), "questions"):
        gain = 0.0
        if question.id in texts:
            requests = [(question, text) for text in (CLOSED, texts[question.id])]
            closed, with_context = answer_logprobs(lm, cfg.ecs, requests, ctx.cache)
            gain = with_context - closed
            cut = cut + tokens_cut(lm, cfg.ecs, requests)
        gains.append((question.id, gain))
    ctx.note_counts({CUT: cut})
    return gains


def run(cfg, inputs, outputs, ctx):
    answers, order = inputs["answers"], cfg.extra.order
    answered = inputs["questions"].join(answers, on="question_id", how="semi").sort("position")
    questions = [Question(*row) for row in answered.select("question_id", "text", "answer").iter_rows()]
    aliases = dict(answered.select("question_id", "aliases").drop_nulls().iter_rows())
    evidence, table = of_classes(inputs["passages"], inputs["evidence"], inputs["contexts"])
    gold = gold_of(answered, evidence, inputs["passages"])
    prompted = reached(table, answers, cfg.assembly.budget)
    figures = []
    sourced = has_sources(gold, table)
    contexts = {question: read for (question, _, _), read in reads(prompted)}
    searched = bool(table["scorer"].is_in(SEARCHED).any())
    texts = dict(prompted.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join("")).iter_rows())
    asked = [question.id for question in questions if question.id in gold]
    cases = {name: Case(gold[name], contexts.get(name, NOTHING), sourced, searched) for name in asked}
    specs = select_metrics(cfg.eval.metrics, READ_METRICS)
    read_figures = dict(zip(cases, measure_all(list(cases.values()), (), specs, "conf/eval/default"), strict=True))
    by_question = {row["question_id"]: row for row in answers.iter_rows(named=True)}
    for question in questions:
        answer = by_question[question.id]
        values = {"read_tokens": float(answer["prompt_tokens"])}
        if answer["stopped"] != FAILED:  # a refused prompt has no answer, so its scores are missing
            values |= answer_scores(answer["text"], question.answer, aliases.get(question.id, ()))
            values |= {"refused": float(answer["refused"]), "completion_tokens": float(answer["completion_tokens"])}
        if question.id in gold:
            values |= {f"read_{name}": value for name, value in read_figures[question.id].items()}
        figures += [(question.id, order, None, False, name, value) for name, value in values.items()]
    figures += [(q, order, None, False, "read_gain", gain) for q, gain in _gains(cfg, ctx, questions, texts)]
    ctx.note_counts({"typed_answers": sum(is_typed(question.answer) for question in questions if question.answer)})
    outputs["question_metrics"] = long_rows(figures)
    return {"questions": len(questions)}


main(run, globals().get("snakemake"))
