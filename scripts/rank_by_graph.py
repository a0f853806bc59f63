"""Questions to candidate runs (coarse, then fine), and to a ranking: of passages, or of the lines of the best runs."""

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.graph.retrieval.candidates import Book, question_symbols
from secateur.graph.retrieval.ranking import GraphRanking, candidates_of, lines_of, paths_of, ranked
from secateur.models.embedder import Embedder
from secateur.ranking.group import blocks
from secateur.stage.contract import main

GRAPH = "graph"  # the scorer's name in its rankings


def _table(made: list[pl.DataFrame]) -> pl.DataFrame:
    """All rankings as the table."""
    empty = TABLES["rankings"].empty()
    named = [one.with_columns(scorer=pl.lit(GRAPH), answer_aware=pl.lit(False)) for one in made if one.height]
    return pl.concat([empty, *(one.select(empty.columns).cast(dict(empty.schema)) for one in named)])


def run(cfg, inputs, outputs, ctx):
    embedder, retriever = Embedder(cfg.embedder, ctx.cache, ctx.log), cfg.retriever
    book = Book.of(inputs["entities"], inputs["relations"], inputs["edges"], inputs.vectors("lines"))
    passages, questions, run_edges = inputs["passages"], inputs["questions"], inputs["run_edges"]
    mentions = inputs["mentions"] if "mentions" in inputs else None
    if retriever.w_dense and retriever.units != "runs":
        embedder.tell_split(passages["text"].to_list(), "passages", ctx)
    symbols = question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # one plan for all questions
    candidates, made, paths = [], [], [TABLES["paths"].empty()]
    groups = questions.sort("position").group_by("group_id", maintain_order=True)
    for (group_id,), asked in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        own = passages.filter(pl.col("group_id") == group_id)
        ranking = GraphRanking(retriever, cfg.order.neighbour, own, book, run_edges, mentions, embedder)
        for block in blocks(asked, max(own.height, ranking.run_count)):
            texts, qids = block["text"].to_list(), block["question_id"].to_list()
            coarse = ranking.coarse(texts, [symbols[q] for q in qids])
            best = candidates_of(ranking, coarse, qids, [symbols[q] for q in qids]) if coarse is not None else []
            candidates += best
            if retriever.units == "runs":
                made += [lines_of(ranking, one) for one in best if one.height]
                continue
            scores, came = ranking.scores(texts, coarse)
            found = ranked(ranking, scores, qids)
            made, paths = [*made, *found], [*paths, *(paths_of(ranking, found, came) if came is not None else [])]
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["rankings"], outputs["paths"] = _table(made), pl.concat(paths)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
