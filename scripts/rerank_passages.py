"""Put the best passages of a ranking in a new order by a reranker."""

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.stage.contract import main


def _check(reranker, rankings: pl.DataFrame, reranked) -> None:
    """Raise SecateurError unless `reranked` is a table `rankings` with pairs of the original alone."""
    where, fix = f"reranker {reranker.__name__}", "rerank() gives the rankings it was given, in their new order"
    if not isinstance(reranked, pl.DataFrame):
        raise SecateurError(f"{where} gave a {type(reranked).__name__}, a table is needed. Fix: {fix}.")
    check(TABLES["rankings"], reranked, where, f"{fix}.")
    row = ["question_id", "passage_id", "scorer"]
    for problem, table, other_table in (
        ("ranks {1!r} for {0!r} as {2!r}, which was not ranked", reranked, rankings),
        ("leaves out {1!r} of {0!r}", rankings, reranked),
    ):
        for question, passage, scorer in table.join(other_table, on=row, how="anti").select(row).head(1).iter_rows():
            raise SecateurError(f"{where} {problem.format(question, passage, scorer)}. Fix: {fix}.")
    if reranked.height != rankings.height:
        raise SecateurError(f"{where} gave {reranked.height} rows for {rankings.height}. Fix: {fix}, each row once.")


def run(cfg, inputs, outputs, ctx):
    spec = cfg.reranker.spec
    reranker = plugins.load("reranker", spec["kind"])
    settings = plugins.settings("reranker", spec, f"conf/reranker/{ctx.axes['reranker']}")
    rankings = inputs["rankings"].filter(pl.col("scorer") == ctx.axes["pick"])
    questions = inputs["questions"].with_columns(answer=pl.lit(None, pl.String))  # no answer ever reaches a ranking
    with plugins.calling("reranker", reranker):
        reranked = reranker.rerank(settings, rankings, questions, inputs["passages"], cfg, ctx)
    _check(reranker, rankings, reranked)
    outputs["rankings"] = reranked
    return {"questions": reranked["question_id"].n_unique(), "rankings": reranked.height}


main(run, globals().get("snakemake"))
