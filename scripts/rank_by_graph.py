"""Rank passages by the graph, or the lines of the best runs; also write the candidate runs and the steps of walks."""

import polars as pl

from secateur.core.shards import questions_of
from secateur.core.tables.catalog import TABLES
from secateur.graph.retrieval.candidates import CodebookArrays, question_symbols
from secateur.graph.retrieval.ranking import GraphRanking, rank_block
from secateur.models.embedder import Embedder
from secateur.ranking import select
from secateur.ranking.group import blocks, texts_read
from secateur.stage.contract import main

GRAPH = "graph"  # name of the scorer in the table


def _table(rankings: list[pl.DataFrame]) -> pl.DataFrame:
    """The table `rankings`."""
    empty = TABLES["rankings"].empty()
    labels = {"scorer": pl.lit(GRAPH), "answer_aware": pl.lit(False)}
    frames = [frame.with_columns(**labels) for frame in rankings if frame.height]
    return pl.concat([empty, *(frame.select(empty.columns).cast(dict(empty.schema)) for frame in frames)])


def run(cfg, inputs, outputs, ctx):
    if "rankings" in inputs:
        for name in ("candidates", "rankings", "paths"):
            outputs[name] = inputs[name]
        return {"questions": 0, "candidates": outputs.rows["candidates"]}
    embedder, retriever = Embedder(cfg.embedder, ctx.cache, ctx.log), cfg.retriever
    book = CodebookArrays.of(inputs["entities"], inputs["relations"], inputs["edges"], inputs.vectors("lines"))
    passages, run_edges = inputs["passages"], inputs["run_edges"]
    questions = questions_of(inputs["questions"], ctx.shard)
    mentions = inputs["mentions"] if "mentions" in inputs else None
    if retriever.w_dense and retriever.units != "runs":
        embedder.tell_split(texts_read(passages), "passages", ctx)
    symbols = question_symbols(inputs["triples"], questions)
    embedder.embed([s for q in symbols.values() for part in q for s in part])  # all questions together
    candidates, rankings, paths = [], [], [TABLES["paths"].empty()]
    groups = questions.group_by("group_id", maintain_order=True)
    for (group_id,), of_group in ctx.progress(groups, questions["group_id"].n_unique(), "groups"):
        pool = passages.filter(pl.col("group_id") == group_id)
        ranking = GraphRanking(retriever, cfg.order.neighbour, pool, book, run_edges, mentions, embedder)
        for block in blocks(of_group, max(pool.height, ranking.run_count)):
            ranked = rank_block(ranking, block, [symbols[q] for q in block["question_id"]])
            candidates += ranked.candidates
            rankings += ranked.rankings
            paths += ranked.steps
    outputs["candidates"] = pl.concat(candidates) if candidates else TABLES["candidates"].empty()
    outputs["rankings"] = select.without_excluded(_table(rankings), questions)
    outputs["paths"] = pl.concat(paths)
    return {"questions": questions.height, "candidates": sum(c.height for c in candidates)}


main(run, globals().get("snakemake"))
