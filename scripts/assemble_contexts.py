"""Assemble contexts from rankings within each budget, in the same way for every ranker."""

from collections.abc import Mapping

import polars as pl

from secateur.config import plugins
from secateur.contexts.piece import Context, Piece, Query, Ranked, Row
from secateur.contexts.table import OWN_LENGTH, context_rows, lengths
from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.graph.assembling import assembly_of
from secateur.graph.codebook import as_shown, shown_as, triples_of
from secateur.stage.contract import main

# A row without text says that nothing fits or is worth its price, and that the question is measured.
NOTHING_SENT = Context([Row("")], 0)


def _queries(inputs) -> dict[str, Query]:
    """Queries by question id, with the context that another system sent or the question's triples if the form needs them."""
    texts = dict(inputs["questions"].select("question_id", "text").iter_rows())
    sent, triples = {}, {}
    if "sent" in inputs:
        by_question = inputs["sent"].sort("question_id", "place").group_by("question_id", maintain_order=True)
        for question, passages, pieces in by_question.agg("passage_id", "text").iter_rows():
            sent[question] = tuple(Piece(p, t, whole=p is not None) for p, t in zip(passages, pieces, strict=True))
    if "triples" in inputs:
        shown = shown_as(inputs["entities"], inputs["aliases"])
        triples = {question: as_shown(written, shown) for question, written in triples_of(inputs["triples"]).items()}
    return {q: Query(text, triples.get(q, ()), sent.get(q, ())) for q, text in texts.items()}


def run(cfg, inputs, outputs, ctx):
    kind = cfg.assembly.form["kind"]
    plugin = plugins.load("form", kind)
    assembly = assembly_of(cfg, inputs["passages"], inputs, ctx.cache, f"conf/assembly/{ctx.axes['assembly']}")
    queries = _queries(inputs)
    budgets = sorted({*cfg.eval.budgets, cfg.assembly.budget})
    # Tokens by question, in place of budgets.
    allowed = lengths(inputs.paths("lengths")) if "lengths" in inputs else None
    ranked, pick = inputs["rankings"].sort("question_id", "scorer", "rank"), ctx.axes["pick"]
    if pick != "all":
        ranked = ranked.filter(pl.col("scorer") == pick)
    groups = ranked.group_by("question_id", "scorer", maintain_order=True).agg(
        pl.struct("passage_id", "edge_id", "value").alias("units"), pl.col("answer_aware").first()
    )
    rankings = [*groups.iter_rows()]
    # A context of another system may hold no passage word for word, and then has no ranking.
    ranked_ids = set(groups["question_id"])
    rankings += [(q, PEER, [], False) for q, query in queries.items() if query.sent and q not in ranked_ids]
    price = cfg.assembly.price
    if cfg.assembly.mean_tokens is not None:
        with plugins.calling("form", plugin):
            asked = [(queries[question], _sent(cfg, units)) for question, _, units, _ in rankings]
            price = ctx.counts["price"] = assembly.price_for(asked, cfg.assembly.mean_tokens)
    if allowed is not None:
        rankings, budgets = _of_lengths(rankings, allowed), []
    rows = []
    for question, scorer, units, aware in ctx.progress(rankings, len(rankings), "rankings"):
        limits = budgets if allowed is None else [allowed[question]]
        with plugins.calling("form", plugin):
            contexts = assembly.contexts(queries[question], _sent(cfg, units), limits, price)
        if allowed is not None:
            contexts = {OWN_LENGTH: contexts[allowed[question]]}
        if allowed is not None or price is not None:
            contexts = {budget: context if context.rows else NOTHING_SENT for budget, context in contexts.items()}
        rows += context_rows(question, scorer, aware, kind, contexts)
    with plugins.calling("form", plugin):
        frame = TABLES["contexts"].frame(rows)
    check(TABLES["contexts"], frame, f"form {plugin.__name__}", "correct the rows that the form writes.")
    outputs["contexts"] = frame
    used = _mean_tokens(rows, OWN_LENGTH if allowed is not None else cfg.assembly.budget)
    return {"questions": len({q for q, *_ in rankings}), "rankings": len(rankings), "tokens_used": used}


def _sent(cfg, units: list[dict]) -> list[Ranked]:
    """The ranked units that a context may hold."""
    return [Ranked(**unit) for unit in units[: cfg.assembly.pieces]]


def _of_lengths(rankings: list[tuple], allowed: Mapping[str, int]) -> list[tuple]:
    """The rankings of the questions with a length; an empty one for each that a scorer does not rank."""
    kept = [ranking for ranking in rankings if ranking[0] in allowed]
    ranked = {(question, scorer) for question, scorer, *_ in kept}
    scorers = {scorer: aware for _, scorer, _, aware in rankings}
    missing = [
        (q, scorer, [], aware) for q in allowed for scorer, aware in scorers.items() if (q, scorer) not in ranked
    ]
    return kept + [row for row in missing if not row[3]]  # not every question has an answer to be ranked by


def _mean_tokens(rows: list[tuple], budget: int) -> float:
    """Mean tokens of the contexts at a budget."""
    tokens = {(row[0], row[1]): row[-1] for row in rows if row[3] == budget}
    return sum(tokens.values()) / max(len(tokens), 1)


main(run, globals().get("snakemake"))
