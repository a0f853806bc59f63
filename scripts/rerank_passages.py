"""A ranking, its best passages put in a new order by a reranker."""

import polars as pl

from secateur.pipeline import kinds
from secateur.pipeline.contract import main


def run(cfg, inputs, outputs, ctx):
    spec = cfg.reranker.spec
    reranker = kinds.load("reranker", spec["kind"])
    settings = kinds.settings("reranker", spec, f"conf/reranker/{ctx.axes['reranker']}")
    own = inputs["rankings"].filter(pl.col("scorer") == ctx.axes["pick"])
    questions = inputs["questions"].with_columns(answer=pl.lit(None, pl.String))  # no answer ever reaches a ranking
    outputs["rankings"] = found = reranker.rerank(settings, own, questions, inputs["passages"], cfg, ctx)
    return {"questions": found["question_id"].n_unique(), "rankings": found.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
