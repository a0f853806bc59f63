"""How good the answers are, what they cost, and what their readers were shown."""

import polars as pl

from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.template import Question
from secateur.evaluation.answers import answer_scores
from secateur.evaluation.evidence import Block, block_metrics, gold_of
from secateur.evaluation.rows import long_rows
from secateur.models.causal import load
from secateur.pipeline.contract import main

KEPT = ("exact", "novel")  # of the evidence, in what was read


def _read(cfg, blocks: pl.DataFrame, answers: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The units of each question that reached its prompt, in their order."""
    own = blocks.filter(pl.col("budget") == cfg.prompt.budget).join(
        answers.select("question_id", "cut"), on="question_id"
    )
    read = own.filter(pl.col("n") >= pl.col("cut")).sort("question_id", "n")
    return {qid: part for (qid,), part in read.partition_by("question_id", as_dict=True).items()}


def _lifts(cfg, ctx, questions: list[Question], read: dict[str, pl.DataFrame]) -> list[tuple[str, float]]:
    """What the context read adds to the gold answer's log-probability per token; nothing for no context."""
    lm, found = load(cfg.lm, ctx.cache, ctx.device) if read else None, []
    for question in ctx.progress(questions, len(questions), "questions"):
        text, lift = "\n".join(read[question.id]["text"]) if question.id in read else CLOSED, 0.0
        if text != CLOSED:
            closed, under = answer_logprobs(lm, cfg.ecs, question, [CLOSED, text], ctx.cache)
            lift = under - closed
        found.append((question.id, lift))
    return found


def run(cfg, inputs, outputs, ctx):
    answers = inputs["answers"]
    asked = inputs["questions"].join(answers, on="question_id", how="semi").sort("position")
    questions = [Question(*row) for row in asked.select("question_id", "text", "answer").iter_rows()]
    gold = gold_of(asked, inputs["evidence"], inputs["passages"])
    read, figures = _read(cfg, inputs["blocks"], answers), []
    given = {row["question_id"]: row for row in answers.iter_rows(named=True)}
    for question in questions:
        own = given[question.id]
        found = answer_scores(own["text"], question.answer)
        found |= {"refused": float(own["refused"]), "read_tokens": float(own["prompt_tokens"])}
        found |= {"completion_tokens": float(own["completion_tokens"])}
        if question.id in gold:
            part = read.get(question.id, inputs["blocks"].clear())
            block = Block(part["text"], part["passage_id"], (part["kind"] == "sentence").to_list())
            recall = block_metrics(gold[question.id], block, cfg.eval.exact_min_content)
            found |= {f"read_{name}": recall[name] for name in KEPT if name in recall}
        figures += [(question.id, None, False, name, value) for name, value in found.items()]
    figures += [(qid, None, False, "read_lift", lift) for qid, lift in _lifts(cfg, ctx, questions, read)]
    outputs["question_metrics"] = long_rows(figures, cfg.extra.track)
    return {"questions": len(questions)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
