"""The best ranked sentences, ranked anew with what a language model makes of them."""

import polars as pl

from secateur.ecs.reading.template import require_pmi_q
from secateur.ecs.rerank import pmi_q, reread
from secateur.models.causal import load
from secateur.pipeline.config.fields import from_dict
from secateur.pipeline.config.models import Lm
from secateur.pipeline.contract import main


def run(cfg, inputs, outputs, ctx):
    ranked = inputs["ranked"]
    pool = ranked.filter(pl.col("rank") < cfg.retriever.reread).select("question_id", "passage_id")
    asked = inputs["questions"].join(pool, on="question_id", how="semi").sort("position")
    asked = asked.with_columns(answer=pl.lit(None, pl.String))  # no answer ever reaches a ranking
    passages = inputs["passages"].sort("doc_id", "position")
    require_pmi_q(cfg.ecs, f"retriever.reader {cfg.retriever.reader}")
    lm = load(from_dict(Lm, cfg.extra.reader, f"conf/lm/{cfg.retriever.reader}"), ctx.cache, ctx.device)
    read = pmi_q(lm, asked, passages, cfg.ecs, pool, ctx.cache, ctx.log)
    outputs["ranked"] = reread(ranked, read, cfg.retriever.w_pmi)
    return {"questions": asked.height, "pairs": pool.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
