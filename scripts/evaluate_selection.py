"""Evaluate selections by F1 at gold size, and rankings by recall and NDCG at the cutoffs of the data set.

The scorer `random` has its expected F1, k / passages, and no metrics at cutoffs; so has `pool_random`, which chooses from the
pool that a language model reads. A question for which a plain scorer ranks nothing scores 0. Questions without a gold passage
are left out, as LongMemEval's protocol leaves out abstentions and questions without a target.
"""

import polars as pl

from secateur.evaluation.rankings import cutoff_metrics, passage_depths, pool_random, session_depths
from secateur.ranking.select import gold_size
from secateur.stage.contract import main

F1 = "f1_at_gold"
METRICS = ("recall_any", "recall_all", "ndcg_any")


def _f1(inputs, gold: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """(question_id, scorer, metric, value): F1 of each selection against the gold passages."""
    selected = inputs["selections"].join(gold.with_columns(hit=pl.lit(1)), on=["question_id", "passage_id"], how="left")
    counts = selected.group_by("question_id", "scorer").agg(
        hits=pl.col("hit").sum(), selected=pl.col("passage_id").count()
    )
    f1 = 2 * pl.col("hits") / (pl.col("selected") + pl.col("k"))
    expected = pl.col("k") / pl.col("pooled")
    value = pl.when(pl.col("scorer") == "random").then(expected).otherwise(f1).cast(pl.Float64)
    sized = counts.join(gold_size(inputs["evidence"]), on="question_id").join(pooled, on="question_id")
    return sized.select("question_id", "scorer", metric=pl.lit(F1), value=value)


def _at_cutoffs(cfg, inputs, gold: pl.DataFrame, pooled: pl.DataFrame, ctx) -> pl.DataFrame:
    """(question_id, scorer, metric, value) at each cutoff: of passages, and of sessions if one has several passages."""
    passages = inputs["passages"].select("passage_id", "group_id", "session_id")
    gold = gold.join(passages.drop("group_id"), on="passage_id")
    ranking = (
        inputs["rankings"]
        .filter(pl.col("scorer") != "random")
        .join(gold.select("question_id").unique(), on="question_id", how="semi")
        .join(passages.drop("group_id"), on="passage_id")
        .join(gold.select("question_id", "passage_id", gold=True), on=["question_id", "passage_id"], how="left")
        .with_columns(pl.col("gold").fill_null(False))
    )
    levels = {"": (passage_depths, "passage_id")}
    if passages.drop_nulls("session_id").select("group_id", "session_id").is_duplicated().any():
        levels["session_"] = (session_depths, "session_id")
    tables = []
    for level, (depths_of, unit) in levels.items():
        depths = depths_of(ranking, pooled, cfg.dataset.cutoffs)
        missing = depths.filter(pl.col("depth").is_null()).select("scorer", "k").n_unique()
        if missing:
            ctx.warn(
                f"{missing} {level}figures are left out: their cutoff lies beyond the passages kept (rankers.keep)"
            )
        ctx.counts[f"{level}cutoffs_left_out"] = missing
        wide = cutoff_metrics(ranking, gold, depths, unit).unpivot(METRICS, index=["question_id", "scorer", "k"])
        name = pl.concat_str(pl.lit(level), "variable", pl.lit("@"), "k")
        tables.append(wide.select("question_id", "scorer", metric=name, value=pl.col("value")))
    return pl.concat(tables)


def _with_zeros(figures: pl.DataFrame, gold: pl.DataFrame, free: pl.Series) -> pl.DataFrame:
    """The figures, and 0 for each question that a scorer ranks nothing for. free: scorers that rank every question."""
    pairs = figures.filter(pl.col("scorer").is_in(free.implode())).select("scorer", "metric").unique()
    every = gold.select("question_id").unique().join(pairs, how="cross")
    missing = every.join(figures, on=["question_id", "scorer", "metric"], how="anti")
    return pl.concat([figures, missing.with_columns(value=pl.lit(0.0)).select(figures.columns)])


def run(cfg, inputs, outputs, ctx):
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    sizes = inputs["passages"].group_by("group_id").agg(pooled=pl.len())
    pooled = inputs["questions"].join(sizes, on="group_id").select("question_id", "pooled")
    aware = inputs["selections"].select("scorer", "answer_aware").unique()
    tables = [_f1(inputs, gold, pooled)]
    if cfg.dataset.cutoffs:
        tables.append(_at_cutoffs(cfg, inputs, gold, pooled, ctx))
    figures = pl.concat(tables)
    if "pool" not in inputs:  # else a model reads some questions only
        figures = _with_zeros(figures, gold, aware.filter(~pl.col("answer_aware"))["scorer"])
    figures = figures.join(aware, on="scorer")
    if "pool" in inputs:
        chance = pool_random(inputs["pool"], gold).with_columns(metric=pl.lit(F1))
        figures = pl.concat([figures, chance.select(figures.columns)])
    outputs["question_metrics"] = figures.with_columns(order=pl.lit(None, pl.String), hop=pl.lit(None, pl.String)).sort(
        "metric", "scorer", "question_id"
    )
    with_gold = gold["question_id"].n_unique()
    without_gold = inputs["questions"].height - with_gold
    if without_gold:
        ctx.warn(f"{without_gold} questions have no resolvable gold passage and are left out")
    ctx.counts["questions_without_gold"] = without_gold
    return {"questions": with_gold, "scorers": tables[0]["scorer"].n_unique()}


main(run, globals().get("snakemake"))
