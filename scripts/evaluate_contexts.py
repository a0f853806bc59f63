"""Evaluate the evidence that contexts hold at each budget, and their tokens."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import polars as pl

from secateur.contexts.table import NOTHING, made_for, names_passages, reads, unmade
from secateur.core.layout import ALL, PEER, scorer_order
from secateur.evaluation.evidence import Case, gold_of
from secateur.evaluation.metric import measure_all
from secateur.evaluation.rows import long_rows
from secateur.models.embedder import Embedder
from secateur.stage.contract import main


def _by_hop(inputs) -> dict[str | None, dict]:
    """Gold evidence by question: of all evidence under None, and of the evidence of each hop."""
    questions, evidence, passages = inputs["questions"], inputs["evidence"], inputs["passages"]
    hops = evidence["hop"].drop_nulls().unique().sort()
    of_hops = {hop: gold_of(questions, evidence.filter(pl.col("hop") == hop), passages) for hop in hops}
    return {None: gold_of(questions, evidence, passages)} | of_hops


def _rows(
    cfg, gold, contexts, known: Mapping[int, Sequence[str]], has_sources: bool, scorer: str, embed
) -> Iterator[tuple]:
    """Yield (question, metric, value) of one ranking's contexts, for some gold evidence.

    known: the questions whose context is known, by budget. Floors need two of them.
    """
    specs = (*cfg.eval.metrics, *cfg.dataset.metrics)

    def cases(ids: Sequence[str], sources: Sequence[str], budget: int) -> list[Case]:
        """Each question with the context of its source question."""
        shown = [contexts.get((source, scorer, budget), NOTHING) for source in sources]
        return [Case(gold[qid], read, has_sources, scorer == PEER) for qid, read in zip(ids, shown, strict=True)]

    for budget, ids in known.items():
        others = cases(ids, [*ids[1:], *ids[:1]], budget) if len(ids) > 1 else ()
        figures = measure_all(cases(ids, ids, budget), others, specs, "conf/eval/default", embed)
        for qid, by_metric in zip(ids, figures, strict=True):
            yield from ((qid, f"{name}@{budget}", value) for name, value in by_metric.items())


def run(cfg, inputs, outputs, ctx):
    golds = _by_hop(inputs)
    budgets, has_sources = made_for(inputs["contexts"], cfg.eval.budgets), names_passages(inputs["contexts"])
    contexts = dict(reads(inputs["contexts"].filter(pl.col("budget").is_in(budgets))))
    embedder = cache(lambda: Embedder(cfg.embedder, ctx.cache, ctx.log))  # loaded by the first metric that needs it
    scorers = dict(inputs["contexts"].select("scorer", "answer_aware").unique().sort("scorer").iter_rows())
    of_list, unknown = ctx.axes["source"].split("/")[3] == ALL, unmade(inputs["contexts"], budgets)
    pairs = inputs["contexts"].select("scorer", "question_id").unique()
    ranked = {
        scorer: set(part["question_id"]) for (scorer,), part in pairs.partition_by("scorer", as_dict=True).items()
    }
    tables, work = [], [(scorer, aware, hop) for scorer, aware in scorers.items() for hop in golds]
    for scorer, aware, hop in ctx.progress(work, len(work), "rankings"):
        name, order = (scorer, scorer_order(scorer)) if of_list else (None, cfg.extra.order)
        ids = [qid for qid in golds[hop] if not (of_list and aware) or qid in ranked[scorer]]  # some have no answer
        known = {budget: [qid for qid in ids if (qid, budget) not in unknown] for budget in budgets}
        rows = _rows(cfg, golds[hop], contexts, known, has_sources, scorer, lambda texts: embedder().embed(texts))
        tables.append(long_rows([(qid, order, name, aware, metric, value) for qid, metric, value in rows], hop))
    unmeasured = sum(len(gold.passages) - len(gold.measurable) for gold in golds[None].values())
    ctx.note_counts({"gold_passages_without_words": unmeasured})
    if unknown:
        ctx.warn(
            f"{len(unknown)} contexts are missing, each of a question that has one at another budget: the figures at "
            "that budget leave the question out"
        )
    outputs["question_metrics"] = pl.concat([long_rows([]), *tables])
    return {"questions": len(golds[None]), "scorers": len(scorers)}


main(run, globals().get("snakemake"))
