"""What evidence the contexts hold at each budget, and what they cost."""

from collections.abc import Iterator
from functools import cache

import polars as pl

from secateur.contexts.table import NOTHING, made_for, names_passages, reads
from secateur.core.layout import ALL, PEER
from secateur.evaluation.evidence import Case, gold_of
from secateur.evaluation.metric import measure_all
from secateur.evaluation.rows import long_rows, order_of
from secateur.models.embedder import Embedder
from secateur.stage.contract import main


def _by_hop(inputs) -> dict[str | None, dict]:
    """Gold of all evidence, and of the evidence of each hop."""
    tables = inputs["questions"], inputs["evidence"], inputs["passages"]
    hops = inputs["evidence"]["hop"].drop_nulls().unique().sort()
    own = {hop: inputs["evidence"].filter(pl.col("hop") == hop) for hop in hops}
    return {None: gold_of(*tables)} | {hop: gold_of(tables[0], part, tables[2]) for hop, part in own.items()}


def _rows(cfg, gold, known, own: list[str], budgets, sourced: bool, scorer: str, embed) -> Iterator[tuple]:
    """(question, metric, value) of one ranking's contexts, for some gold evidence."""
    floor = dict(zip(own, [*own[1:], *own[:1]], strict=True)) if len(own) > 1 else {}
    places = [(qid, budget) for qid in own for budget in budgets]

    def cases(shown: dict[str, str]) -> list[Case]:
        read = [known.get((shown[q], scorer, b), NOTHING) for q, b in places]
        return [Case(gold[q], one, sourced, scorer == PEER) for (q, _), one in zip(places, read, strict=True)]

    figures = measure_all(
        cases(dict(zip(own, own, strict=True))),
        cases(floor) if floor else (),
        (*cfg.eval.metrics, *cfg.dataset.metrics),
        "conf/eval/default",
        embed,
    )
    for (qid, budget), found in zip(places, figures, strict=True):
        yield from ((qid, f"{name}@{budget}", value) for name, value in found.items())


def run(cfg, inputs, outputs, ctx):
    golds = _by_hop(inputs)
    budgets, sourced = made_for(inputs["contexts"], cfg.eval.budgets), names_passages(inputs["contexts"])
    known = dict(reads(inputs["contexts"].filter(pl.col("budget").is_in(budgets))))
    embedder = cache(lambda: Embedder(cfg.embedder, ctx.cache, ctx.log))  # loaded by the first metric that asks
    scorers = dict(inputs["contexts"].select("scorer", "answer_aware").unique().sort("scorer").iter_rows())
    every = ctx.axes["source"].split("/")[3] == ALL
    pairs = inputs["contexts"].select("scorer", "question_id").unique()
    asked = {scorer: set(part["question_id"]) for (scorer,), part in pairs.partition_by("scorer", as_dict=True).items()}
    tables, work = [], [(scorer, aware, hop) for scorer, aware in scorers.items() for hop in golds]
    for scorer, aware, hop in ctx.progress(work, len(work), "rankings"):
        named, order = (scorer, order_of(scorer)) if every else (None, cfg.extra.order)
        own = [q for q in golds[hop] if not every or q in asked[scorer]]  # a form of it may not be asked every question
        found = _rows(cfg, golds[hop], known, own, budgets, sourced, scorer, lambda texts: embedder().embed(texts))
        tables.append(long_rows([(q, order, named, aware, metric, value) for q, metric, value in found], hop))
    outputs["question_metrics"] = pl.concat([long_rows([]), *tables])
    return {"questions": len(golds[None]), "scorers": len(scorers)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
