"""Evaluate the evidence that contexts hold at each budget, and their tokens."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import polars as pl

from secateur.contexts.table import NOTHING, OWN_LENGTH, SEARCHED, reads
from secateur.core.layout import ALL, options_of, own_length, scorer_order
from secateur.datasets.schema import of_classes
from secateur.evaluation.evidence import Case, gold_of, has_sources
from secateur.evaluation.metric import measure_all
from secateur.evaluation.rows import long_rows
from secateur.models.embedder import Embedder
from secateur.stage.contract import main

Rows = Iterator[tuple[str, str, float]]


def _by_hop(questions, evidence, passages) -> dict[str | None, dict]:
    """Gold evidence by question: of all evidence under None, and of the evidence of each hop."""
    hops = evidence["hop"].drop_nulls().unique().sort()
    of_hops = {hop: gold_of(questions, evidence.filter(pl.col("hop") == hop), passages) for hop in hops}
    return {None: gold_of(questions, evidence, passages)} | of_hops


def _rows(cfg, gold, contexts, ids: Sequence[str], at: Mapping[int, str], sourced: bool, scorer: str, embed) -> Rows:
    """Yield (question, metric, value) of one ranking's contexts, for some gold evidence.

    ids: the questions; floors need two of them. sourced: as `Case.has_sources`. at: budget -> what follows the name of a metric.
    """
    specs = (*cfg.eval.metrics, *cfg.dataset.metrics)

    def cases(sources: Sequence[str], budget: int) -> list[Case]:
        """Each question with the context of its source question."""
        shown = [contexts.get((source, scorer, budget), NOTHING) for source in sources]
        return [Case(gold[qid], read, sourced, scorer in SEARCHED) for qid, read in zip(ids, shown, strict=True)]

    for budget, label in at.items():
        others = cases([*ids[1:], *ids[:1]], budget) if len(ids) > 1 else ()
        figures = measure_all(cases(ids, budget), others, specs, "conf/eval/default", embed)
        for qid, by_metric in zip(ids, figures, strict=True):
            yield from ((qid, f"{name}@{label}", value) for name, value in by_metric.items())


def run(cfg, inputs, outputs, ctx):
    length = own_length(options_of(ctx.axes))  # the system whose contexts have as many tokens
    at = {OWN_LENGTH: length} if length else {budget: str(budget) for budget in cfg.eval.budgets}
    shown = inputs["contexts"].filter(pl.col("budget").is_in(list(at)))
    evidence, table = of_classes(inputs["passages"], inputs["evidence"], shown)
    golds = _by_hop(inputs["questions"], evidence, inputs["passages"])
    contexts = dict(reads(table))
    sourced = has_sources(golds[None], table)
    if not sourced:
        ctx.warn("no context holds a passage or a quotation word for word, or names one: evidence recall is left out")
    embedder = cache(lambda: Embedder(cfg.embedder, ctx.cache, ctx.log))  # loaded by the first metric that needs it
    scorers = dict(inputs["contexts"].select("scorer", "answer_aware").unique().sort("scorer").iter_rows())
    of_list = options_of(ctx.axes)["pick"] == ALL
    pairs = inputs["contexts"].select("scorer", "question_id").unique()
    ranked = {
        scorer: set(part["question_id"]) for (scorer,), part in pairs.partition_by("scorer", as_dict=True).items()
    }
    tables, work = [], [(scorer, aware, hop) for scorer, aware in scorers.items() for hop in golds]
    for scorer, aware, hop in ctx.progress(work, len(work), "rankings"):
        name, order = (scorer, scorer_order(scorer)) if of_list else (None, cfg.extra.order)
        partial = bool(length) or (of_list and aware)  # made for some questions; some have no answer
        ids = [qid for qid in golds[hop] if not partial or qid in ranked[scorer]]
        embed = lambda texts: embedder().embed(texts)  # noqa: E731
        rows = _rows(cfg, golds[hop], contexts, ids, at, sourced, scorer, embed)
        tables.append(long_rows([(qid, order, name, aware, metric, value) for qid, metric, value in rows], hop))
    unmeasured = sum(len(gold.passages) - len(gold.measurable) for gold in golds[None].values())
    ctx.note_counts({"gold_passages_without_words": unmeasured})
    outputs["question_metrics"] = pl.concat([long_rows([]), *tables])
    return {"questions": len(golds[None]), "scorers": len(scorers)}


main(run, globals().get("snakemake"))
