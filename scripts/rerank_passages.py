"""A ranking, its best passages put in a new order by a reranker."""

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.stage.contract import main


def _check(reranker, own: pl.DataFrame, found) -> None:
    """Raise SecateurError for what is no new order of a ranking."""
    where, fix = f"reranker {reranker.__name__}", "rerank() gives the rankings it was given, in their new order"
    if not isinstance(found, pl.DataFrame):
        raise SecateurError(f"{where} gave a {type(found).__name__}, a table is needed. Fix: {fix}.")
    check(TABLES["rankings"], found, where, f"{fix}.")
    strange = found.join(own, on=["question_id", "passage_id"], how="anti")
    if strange.height:
        question, passage = strange.select("question_id", "passage_id").row(0)
        raise SecateurError(f"{where} ranks {passage!r} for {question!r}, which was not ranked. Fix: {fix}.")


def run(cfg, inputs, outputs, ctx):
    spec = cfg.reranker.spec
    reranker = plugins.load("reranker", spec["kind"])
    settings = plugins.settings("reranker", spec, f"conf/reranker/{ctx.axes['reranker']}")
    own = inputs["rankings"].filter(pl.col("scorer") == ctx.axes["pick"])
    questions = inputs["questions"].with_columns(answer=pl.lit(None, pl.String))  # no answer ever reaches a ranking
    with plugins.calling("reranker", reranker):
        found = reranker.rerank(settings, own, questions, inputs["passages"], cfg, ctx)
    _check(reranker, own, found)
    outputs["rankings"] = found
    return {"questions": found["question_id"].n_unique(), "rankings": found.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
