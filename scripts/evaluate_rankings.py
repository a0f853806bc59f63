"""Evaluate rankings by the gold articles among the first k, for all evidence and for each hop."""

import polars as pl

from secateur.core.layout import ALL, scorer_order
from secateur.datasets.schema import of_classes
from secateur.evaluation.retrieval import article_of_passages, by_hop, rank_metrics, recall_metrics
from secateur.evaluation.rows import SCHEMA
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    documents, pick = article_of_passages(inputs["passages"]), ctx.axes["pick"]
    picked = inputs["rankings"] if pick == ALL else inputs["rankings"].filter(pl.col("scorer") == pick)
    picked, evidence = of_classes(inputs["passages"], picked, inputs["evidence"])
    rankings = picked.join(documents, on="passage_id")
    tables = []
    for hop, gold in by_hop(evidence, documents):
        tables.append(recall_metrics(rankings, gold, cfg.dataset.cutoffs).with_columns(hop=pl.lit(hop, pl.String)))
        if hop is None:
            tables.append(rank_metrics(rankings, gold).with_columns(hop=pl.lit(None, pl.String)))
    figures = pl.concat(tables)
    orders = {scorer: scorer_order(scorer) if pick == ALL else cfg.extra.order for scorer in figures["scorer"].unique()}
    scorer = pl.col("scorer") if pick == ALL else pl.lit(None, pl.String)
    order = pl.col("scorer").replace_strict(orders, return_dtype=pl.String) if orders else pl.lit(None, pl.String)
    outputs["question_metrics"] = figures.with_columns(order=order, scorer=scorer).select(list(SCHEMA))
    return {"questions": figures["question_id"].n_unique(), "scorers": len(orders)}


main(run, globals().get("snakemake"))
