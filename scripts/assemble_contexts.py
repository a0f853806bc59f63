"""Assemble contexts from rankings within each budget, in the same way for every ranker."""

import polars as pl

from secateur.config import plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.piece import Material, Piece, Query, Ranked
from secateur.contexts.table import context_rows
from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.graph.codebook import as_shown, shown_as, triples_of
from secateur.graph.material import material_of, passage_edges
from secateur.models.word_pieces import lm_counter, word_piece_counter
from secateur.stage.contract import main


def _material(cfg, inputs, ctx, needs_graph: bool) -> Material:
    """Texts, token counter and edges for the form."""
    word_pieces = cfg.assembly.counter == "word_pieces"
    count = word_piece_counter(cfg.embedder.model) if word_pieces else lm_counter(cfg.lm.model, ctx.cache)
    tables = ("edges", "entities", "relations", "edge_sources")
    edges = passage_edges(*(inputs[name] for name in tables)) if needs_graph else None
    return material_of(inputs["passages"], cfg.assembly.titles, count, edges)


def _queries(inputs) -> dict[str, Query]:
    """Queries by question id, with the context that another system sent or the question's triples if the form needs them."""
    texts = dict(inputs["questions"].select("question_id", "text").iter_rows())
    sent, triples = {}, {}
    if "sent" in inputs:
        parts = inputs["sent"].sort("question_id", "place").group_by("question_id", maintain_order=True)
        for question, passages, pieces in parts.agg("passage_id", "text").iter_rows():
            sent[question] = tuple(Piece(p, t, whole=p is not None) for p, t in zip(passages, pieces, strict=True))
    if "triples" in inputs:
        shown = shown_as(inputs["entities"], inputs["aliases"])
        triples = {question: as_shown(written, shown) for question, written in triples_of(inputs["triples"]).items()}
    return {q: Query(text, triples.get(q, ()), sent.get(q, ())) for q, text in texts.items()}


def run(cfg, inputs, outputs, ctx):
    spec = cfg.assembly.form
    plugin = plugins.load("form", spec["kind"])
    settings = plugins.settings("form", spec, f"conf/assembly/{ctx.axes['assembly']}")
    passages = inputs["passages"].sort("doc_id", "position")
    order = {p: n for n, p in enumerate(passages["passage_id"])}
    material = _material(cfg, inputs, ctx, plugin.NEEDS_GRAPH)
    with plugins.calling("form", plugin):
        form = plugin.form(settings, material)
    assembly = Assembly(form, cfg.assembly.packing, cfg.assembly.placement, material, order)
    queries = _queries(inputs)
    budgets = sorted({*cfg.eval.budgets, cfg.assembly.budget})
    ranked, pick = inputs["rankings"].sort("question_id", "scorer", "rank"), ctx.axes["pick"]
    if pick != "all":
        ranked = ranked.filter(pl.col("scorer") == pick)
    parts = ranked.group_by("question_id", "scorer", maintain_order=True).agg(
        pl.struct("passage_id", "edge_id").alias("units"), pl.col("answer_aware").first()
    )
    rankings = [*parts.iter_rows()]
    # A context of another system may hold no passage word for word, and then has no ranking.
    ranked_ids = set(parts["question_id"])
    rankings += [(q, PEER, [], False) for q, query in queries.items() if query.sent and q not in ranked_ids]
    rows = []
    for question, scorer, units, aware in ctx.progress(rankings, len(rankings), "rankings"):
        with plugins.calling("form", plugin):
            sent = [Ranked(**unit) for unit in units[: cfg.assembly.pieces]]
            contexts = assembly.contexts(queries[question], sent, budgets)
        rows += context_rows(question, scorer, aware, spec["kind"], contexts)
    with plugins.calling("form", plugin):
        frame = TABLES["contexts"].frame(rows)
    check(TABLES["contexts"], frame, f"form {plugin.__name__}", "correct the rows that the form writes.")
    outputs["contexts"] = frame
    used = _mean_tokens(rows, cfg.assembly.budget)
    return {"questions": len({q for q, *_ in rankings}), "rankings": len(rankings), "tokens_used": used}


def _mean_tokens(rows: list[tuple], budget: int) -> float:
    """Mean tokens of the contexts at a budget."""
    tokens = {(row[0], row[1]): row[-1] for row in rows if row[3] == budget}
    return sum(tokens.values()) / max(len(tokens), 1)


main(run, globals().get("snakemake"))
