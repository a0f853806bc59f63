"""Grow contexts passage by passage, for questions of some types in a subset, one shard of the questions (ECS, algorithm 1)."""

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.ecs.reading.template import Passage, Question, require_pmi_q
from secateur.ecs.scores import pmi_q
from secateur.ecs.scoring.combine import features
from secateur.ecs.scoring.fusion import standardised
from secateur.ecs.selection.grow import Growth
from secateur.ecs.selection.pool import shard_of, with_preceding
from secateur.evaluation.subsets import members
from secateur.models.reader import load
from secateur.ranking.select import NOTHING, gold_size
from secateur.stage.contract import main


def _growths(cfg, inputs, ctx, questions: pl.DataFrame, lm):
    """Yield (k, Growth) of each question."""
    names = [name for name in cfg.ecs.grow_by if name != "pmi_q"]
    weights = np.array([cfg.ecs.grow_by[name] for name in names])
    tables = (inputs[name] for name in ("pool", "questions", "passages", "rankings", "statistics"))
    table = features(*tables, {"pmi_q": pmi_q.__name__}, [*names, "pmi_q"])
    shown = with_preceding(inputs["passages"], cfg.ecs.before).select("passage_id", "text", "speaker", "date")
    free = table.filter("free").sort("question_id", "rank").join(shown, on="passage_id", maintain_order="left")
    candidates = free.partition_by("question_id", as_dict=True)
    for qid, text, answer, k in ctx.progress(questions.iter_rows(), questions.height, "questions"):
        rows = candidates[(qid,)]
        passages = [Passage(*row) for row in rows.select("passage_id", "text", "speaker", "date").iter_rows()]
        fixed = standardised(rows.select(names).to_numpy(), np.array([0])) @ weights
        weight = cfg.ecs.grow_by.get("pmi_q", 0.0)
        yield k, Growth(lm, cfg.ecs, Question(qid, text, answer), passages, fixed, rows["pmi_q"].to_numpy(), weight)


def run(cfg, inputs, outputs, ctx):
    require_pmi_q(cfg.ecs, "dataset.grown")
    spec = {"types": {}, "first": cfg.dataset.first}
    subset = members(inputs["questions"], inputs["evidence"], spec)[cfg.dataset.grown_of or "all"]
    in_shard = shard_of(inputs["questions"], ctx.axes["shard"]).filter(pl.col("type").is_in(list(cfg.dataset.grown)))
    pooled = in_shard.filter(pl.col("question_id").is_in(list(subset))).join(
        inputs["pool"], on="question_id", how="semi"
    )
    questions = pooled.join(gold_size(inputs["evidence"]), on="question_id").sort("question_id")
    questions = questions.select("question_id", "text", pl.lit(None, pl.String).alias("answer"), "k")
    lm = load(cfg.lm, ctx.cache, ctx.device) if questions.height else None
    rows = []
    for k, growth in _growths(cfg, inputs, ctx, questions, lm):
        selected = {
            "greedy": growth.select(k),
            "greedy@tau": growth.select(len(growth.passages), growth.quantile(cfg.ecs.percentile)),
        }
        for name, places in selected.items():
            ids = [(n, growth.passages[p].id) for n, p in enumerate(places)] or [(NOTHING, None)]
            rows += [(growth.question.id, name, n, passage, False) for n, passage in ids]
    outputs["selections"] = TABLES["selections"].frame(rows)
    return {"questions": questions.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
