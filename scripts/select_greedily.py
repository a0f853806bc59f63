"""Grow contexts passage by passage, for questions of some types in a subset, one shard of the questions (ECS, algorithm 1).

Best first, by a sum of scores; and in order of arrival, as the algorithm is printed.
"""

from collections import Counter

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.ecs.reading.template import Passage, Question, require_pmi_q
from secateur.ecs.scores import pmi_q
from secateur.ecs.scoring.combine import features, scorable
from secateur.ecs.scoring.fusion import standardised
from secateur.ecs.scoring.null import draws
from secateur.ecs.scoring.score import sees_answer
from secateur.ecs.selection.arrival import Arrivals
from secateur.ecs.selection.grow import Growth
from secateur.ecs.selection.pool import shard_of, with_preceding
from secateur.evaluation.subsets import members
from secateur.models.reader import load
from secateur.ranking.select import NOTHING, gold_size
from secateur.stage.contract import main

SHOWN = ("passage_id", "text", "speaker", "date")


def _passages(rows: pl.DataFrame) -> list[Passage]:
    return [Passage(*row) for row in rows.select(SHOWN).iter_rows()]


def _best_first(cfg, inputs, lm, counts: Counter):
    """A function from a question (id, text, answer, k) to the selections of its best candidates, by name."""
    names = [name for name in cfg.ecs.grow_by if name != "pmi_q"]
    weights = np.array([cfg.ecs.grow_by[name] for name in names])
    tables = (inputs[name] for name in ("pool", "questions", "passages", "rankings", "statistics"))
    table = features(*tables, {"pmi_q": pmi_q.__name__}, [*names, "pmi_q"])
    shown = with_preceding(inputs["passages"], cfg.ecs.before).select(SHOWN)
    pooled = table.filter("free").sort("question_id", "rank").join(shown, on="passage_id", maintain_order="left")
    free = pooled.drop_nulls([*names, "pmi_q"])
    counts["candidates_without_score"] += pooled.height - free.height  # below the last rank that a ranking keeps
    candidates = free.partition_by("question_id", as_dict=True)

    def select(qid: str, text: str, answer: str | None, k: int) -> dict[str, list[str]]:
        if (rows := candidates.get((qid,))) is None:
            return {"greedy": [], "greedy@tau": []}
        fixed = standardised(rows.select(names).to_numpy(), np.array([0])) @ weights
        weight = cfg.ecs.grow_by.get("pmi_q", 0.0)
        question = Question(qid, text)
        growth = Growth(lm, cfg.ecs, question, _passages(rows), fixed, rows["pmi_q"].to_numpy(), weight)
        selected = {
            "greedy": growth.select(k),
            "greedy@tau": growth.select(len(growth.passages), growth.quantile(cfg.ecs.percentile)),
        }
        counts.update(growth.counts)
        return {name: [growth.passages[p].id for p in places] for name, places in selected.items()}

    return select


def _in_order(cfg, inputs, lm, questions: pl.DataFrame, counts: Counter):
    """A function from a question (id, text, answer, k) to the selections in order of arrival, by name."""
    # A length in characters serves as well for quartiles.
    lengths = inputs["passages"].select("passage_id", "group_id", tokens=pl.col("text").str.len_chars())
    drawn = draws(questions, lengths, cfg.ecs.draws, cfg.ecs.seed).filter("drawn")
    shown = with_preceding(inputs["passages"], cfg.ecs.before)  # in the order of the text
    shown = shown.with_row_index("place").select("place", *SHOWN)

    def of_question(table: pl.DataFrame, qid: str) -> list[Passage]:
        rows = table.filter(pl.col("question_id") == qid).join(shown, on="passage_id").sort("place")
        return _passages(rows)

    def select(qid: str, text: str, answer: str | None, k: int) -> dict[str, list[str]]:
        selected = {}
        for name, spec in cfg.ecs.arrival.items():
            aware = sees_answer(spec)
            if aware and not answer:
                continue
            passages = of_question(scorable(inputs["pool"], aware), qid)
            question = Question(qid, text, answer)
            arrivals = Arrivals(lm, cfg.ecs, question, passages, spec)
            null = arrivals.quantile(of_question(drawn, qid), cfg.ecs.percentile)
            for at, tau in {"fixed": cfg.ecs.threshold, "null": null}.items():
                selected[f"arrival:{name}@{at}"] = [passages[p].id for p in arrivals.select(tau)]
            counts.update(arrivals.counts)
        return selected

    return select


def run(cfg, inputs, outputs, ctx):
    spec = {"types": {}, "first": cfg.dataset.first}
    subset = members(inputs["questions"], inputs["evidence"], spec)[cfg.dataset.grown_of or "all"]
    in_shard = shard_of(inputs["questions"], ctx.shard).filter(pl.col("type").is_in(list(cfg.dataset.grown)))
    pooled = in_shard.filter(pl.col("question_id").is_in(list(subset))).join(
        inputs["pool"], on="question_id", how="semi"
    )
    questions = pooled.join(gold_size(inputs["evidence"]), on="question_id").sort("question_id")
    lm = load(cfg.lm, ctx.cache, ctx.device) if questions.height else None
    ways, counts = {}, Counter()
    if cfg.ecs.grow_by is not None:
        require_pmi_q(cfg.ecs, "dataset.grown")
        ways["best first"] = _best_first(cfg, inputs, lm, counts)
    if cfg.ecs.arrival:
        ways["in order"] = _in_order(cfg, inputs, lm, questions, counts)
    aware = {
        f"arrival:{name}@{at}" for name, s in cfg.ecs.arrival.items() if sees_answer(s) for at in ("fixed", "null")
    }
    rows = []
    asked = questions.select("question_id", "text", "answer", "k")
    for question in ctx.progress(asked.iter_rows(), asked.height, "questions"):
        for select in ways.values():
            for name, selected in select(*question).items():
                ids = list(enumerate(selected)) or [(NOTHING, None)]
                rows += [(question[0], name, n, passage, name in aware) for n, passage in ids]
    outputs["selections"] = TABLES["selections"].frame(rows)
    if counts["cut"]:
        ctx.warn(f"{counts['cut']} tokens of grown contexts did not fit the window of {cfg.lm.window} and were cut")
    if counts["candidates_without_score"]:
        ctx.warn(
            f"{counts['candidates_without_score']} candidates have no score that ecs.grow_by names, and are not selected. "
            "Fix: raise rankers.keep, so that every passage of a group is ranked"
        )
    ctx.counts["tokens_cut"] = counts["cut"]
    return {"questions": questions.height}


main(run, globals().get("snakemake"))
