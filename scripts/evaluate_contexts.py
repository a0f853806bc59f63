"""What evidence the contexts hold at each budget, and what they cost."""

import polars as pl

from secateur.contexts.table import NOTHING, made_for, names_passages, reads
from secateur.evaluation.evidence import Measured, gold_of, read_metrics
from secateur.evaluation.rows import long_rows, order_of
from secateur.evaluation.semantic import Semantic
from secateur.pipeline.contract import main
from secateur.pipeline.layout import ALL


def run(cfg, inputs, outputs, ctx):
    gold = gold_of(inputs["questions"], inputs["evidence"], inputs["passages"])
    measured = Measured(cfg.eval.exact_min_content, frozenset(cfg.eval.qualifiers))
    budgets, sourced = made_for(inputs["contexts"], cfg.eval.budgets), names_passages(inputs["contexts"])
    contexts = inputs["contexts"].filter(pl.col("budget").is_in(budgets))
    known = dict(reads(contexts))
    semantic = Semantic(cfg, ctx, gold) if cfg.dataset.semantic else None
    if semantic:
        semantic.prepare(sorted({line for read in known.values() for line in read.lines}))
    scorers = dict(inputs["contexts"].select("scorer", "answer_aware").unique().sort("scorer").iter_rows())
    every = ctx.axes["source"].split("/")[3] == ALL
    pairs = inputs["contexts"].select("scorer", "question_id").unique()
    asked = {scorer: set(part["question_id"]) for (scorer,), part in pairs.partition_by("scorer", as_dict=True).items()}
    rows = []
    for scorer, aware in scorers.items():
        order = order_of(scorer) if every else cfg.extra.order
        for qid, one in gold.items():
            if every and qid not in asked[scorer]:  # a form of it is not asked this question
                continue
            for budget in budgets:
                read = known.get((qid, scorer, budget), NOTHING)
                found = read_metrics(one, read, measured, sourced)
                if semantic:
                    found |= semantic.of(qid, read.lines)
                named = scorer if every else None
                rows += [(qid, order, named, aware, f"{name}@{budget}", value) for name, value in found.items()]
    outputs["question_metrics"] = long_rows(rows)
    return {"questions": len(gold), "scorers": len(scorers)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
