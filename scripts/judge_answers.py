"""Judge answers and their contexts with a language model, and check its verdicts with controls."""

from dataclasses import replace
from itertools import islice

import polars as pl

from secateur.answers.ask import losses
from secateur.answers.ending import FAILED
from secateur.contexts.table import reached
from secateur.core.cache import digest
from secateur.core.tables.catalog import TABLES
from secateur.evaluation.rows import long_rows
from secateur.evaluation.subsets import answered
from secateur.judging.ask import Asking, judge_of
from secateur.judging.controls import controls
from secateur.judging.protocol import Item, Judgement, judged
from secateur.models.embedder import Embedder
from secateur.stage.contract import main


def _judged(inputs, count: int) -> pl.DataFrame:
    """The answered questions to judge, with columns refused, cut and generated; at most `count`, or all if it is 0.

    Questions whose prompt was refused have no answer to judge.
    """
    answers = (
        inputs["answers"].filter(pl.col("stopped") != FAILED).select("question_id", "refused", "cut", generated="text")
    )
    questions = inputs["questions"].join(answers, on="question_id")
    return answered(questions, "all", count or questions.height).sort("position")


def _items(questions: pl.DataFrame, inputs, budget: int) -> dict[str, Item]:
    """The item to judge of each question: its answer, the context that reached the prompt, and its gold passages."""
    prompted = reached(inputs["contexts"], questions, budget)
    texts = dict(prompted.group_by("question_id", maintain_order=True).agg(pl.col("text").str.join("")).iter_rows())
    passages = inputs["passages"].select("passage_id", gold="text")
    evidence = inputs["evidence"].drop_nulls("passage_id").join(passages, on="passage_id")
    gold = dict(evidence.group_by("question_id", maintain_order=True).agg("gold").iter_rows())
    columns, reads = ("question_id", "text", "generated", "answer", "refused"), not inputs["contexts"].is_empty()
    return {
        q: Item(text, generated, answer, texts.get(q, ""), tuple(dict.fromkeys(gold.get(q, ()))), refused, reads)
        for q, text, generated, answer, refused in questions.select(columns).iter_rows()
    }


def _golds(items: dict[str, Item], questions: pl.DataFrame) -> dict[str, list[Item]]:
    """The item of each question, with each of its gold answers."""
    aliases = dict(questions.select("question_id", "aliases").drop_nulls().iter_rows())
    return {q: [item, *(replace(item, gold=alias) for alias in aliases.get(q, ()))] for q, item in items.items()}


def _judgements(
    golds: dict[str, list[Item]], ask: Asking, embedder: Embedder
) -> dict[str, tuple[Item, Judgement, float]]:
    """Each question's item, judgement and cosine of answer and gold, of the gold answer under which they are highest.

    A judgement that could not be read is below any that could.
    """
    flat = [item for of_question in golds.values() for item in of_question]
    answers, wanted = (embedder.embed([getattr(item, side) or " " for item in flat]) for side in ("answer", "gold"))
    results = zip(flat, judged(flat, ask), (answers * wanted).sum(1).tolist(), strict=True)
    by_question = {q: list(islice(results, len(of_question))) for q, of_question in golds.items()}
    return {q: max(of_question, key=_facts_then_cosine) for q, of_question in by_question.items()}


def _facts_then_cosine(result: tuple[Item, Judgement, float]) -> tuple[float, float]:
    _, judgement, cosine = result
    return -1 if judgement.facts is None else judgement.facts, cosine


def run(cfg, inputs, outputs, ctx):
    judge, name = cfg.judge, ctx.axes["judge"]
    questions = _judged(inputs, judge.judged)
    ask = Asking(judge_of(judge, cfg.extra.model, cfg.lm.model, ctx))
    golds = _golds(_items(questions, inputs, cfg.assembly.budget), questions)
    best = _judgements(golds, ask, Embedder(cfg.embedder, ctx.cache, ctx.log))
    items, judgements = ({q: result[n] for q, result in best.items()} for n in (0, 1))
    figures = []
    for question, (_, judgement, cosine) in best.items():
        values = {f"judged_{metric}": value for metric, value in judgement.figures.items()}
        if judgement.facts is not None:
            values["judged_acc"] = judge.facts * judgement.facts + (1 - judge.facts) * (1 + cosine) / 2
        figures += [(question, metric, value) for metric, value in values.items()]
    checked = answered(questions, "all", judge.checked)["question_id"].to_list()
    ctx.log.info("%d answers judged; the judge is checked on %d", len(items), len(checked))
    gold_answers = [[item.gold for item in golds[q]] for q in checked]
    checks = controls([items[q] for q in checked], [judgements[q] for q in checked], gold_answers, ask, judge.padding)
    for question, values in zip(checked, checks, strict=True):
        figures += [(question, f"judge_{metric}", value) for metric, value in values.items()]
    outputs["question_metrics"] = long_rows(
        [(q, cfg.extra.order, None, False, f"{metric}@{name}", value) for q, metric, value in figures]
    )
    replies = [(digest(prompt), len(prompt), reply) for prompt, reply in ask.replies.items()]
    outputs["verdicts"] = TABLES["verdicts"].frame(replies).sort("prompt")
    unread = sum(judgement.unread for judgement in judgements.values())
    verdicts = sum(judgement.asked for judgement in judgements.values())
    ctx.counts |= {"verdicts": verdicts, "unread": unread, "too_long": len(replies) - len(ask.completions)}
    ctx.note_counts(losses(ask.completions, judge, "judge"))
    if unread:
        ctx.warn(f"{unread} of {verdicts} verdicts of judge {name} could not be read; they are missing, not 0")
    return {"questions": len(items), "unread": unread / max(verdicts, 1)}


main(run, globals().get("snakemake"))
