"""What evidence the contexts hold at each budget, and what they cost."""

from functools import cache

import polars as pl

from secateur.contexts.table import NOTHING, made_for, names_passages, reads
from secateur.evaluation.evidence import Case, gold_of
from secateur.evaluation.metric import measured
from secateur.evaluation.rows import long_rows, order_of
from secateur.models.embedder import Embedder
from secateur.pipeline.contract import main
from secateur.pipeline.layout import ALL


def run(cfg, inputs, outputs, ctx):
    gold = gold_of(inputs["questions"], inputs["evidence"], inputs["passages"])
    budgets, sourced = made_for(inputs["contexts"], cfg.eval.budgets), names_passages(inputs["contexts"])
    known = dict(reads(inputs["contexts"].filter(pl.col("budget").is_in(budgets))))
    embedder = cache(lambda: Embedder(cfg.embedder, ctx.cache, ctx.log))  # loaded by the first metric that asks
    spec = (*cfg.eval.metrics, *cfg.dataset.metrics)
    scorers = dict(inputs["contexts"].select("scorer", "answer_aware").unique().sort("scorer").iter_rows())
    every = ctx.axes["source"].split("/")[3] == ALL
    pairs = inputs["contexts"].select("scorer", "question_id").unique()
    asked = {scorer: set(part["question_id"]) for (scorer,), part in pairs.partition_by("scorer", as_dict=True).items()}
    rows = []
    for scorer, aware in ctx.progress(list(scorers.items()), len(scorers), "rankings"):
        order = order_of(scorer) if every else cfg.extra.order
        own = [q for q in gold if not every or q in asked[scorer]]  # a form of it may not be asked every question
        floor = dict(zip(own, [*own[1:], *own[:1]], strict=True)) if len(own) > 1 else {}
        places = [(qid, budget) for qid in own for budget in budgets]

        def cases(shown: dict[str, str], places=places, scorer=scorer) -> list[Case]:
            read = [known.get((shown[q], scorer, b), NOTHING) for q, b in places]
            return [Case(gold[q], one, sourced) for (q, _), one in zip(places, read, strict=True)]

        figures = measured(
            cases(dict(zip(own, own, strict=True))),
            cases(floor) if floor else (),
            spec,
            "conf/eval/default",
            lambda texts: embedder().embed(texts),
        )
        for (qid, budget), found in zip(places, figures, strict=True):
            named = scorer if every else None
            rows += [(qid, order, named, aware, f"{name}@{budget}", value) for name, value in found.items()]
    outputs["question_metrics"] = long_rows(rows)
    return {"questions": len(gold), "scorers": len(scorers)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
