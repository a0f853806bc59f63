"""F1 at k = gold size, per question and scorer, and recall and gain at cutoffs where the data set has some.

`random` is its expectation, k / passages, and has no figures at cutoffs. Questions without a gold passage are left
out of everything, as LongMemEval's protocol leaves out abstentions and questions without a target.
"""

import polars as pl

from secateur.evaluation.rankings import cutoff_metrics, passage_depths, session_depths
from secateur.ranking.select import gold_size
from secateur.stage.contract import main

FIGURES = ("recall_any", "recall_all", "ndcg_any")


def _f1(inputs, gold: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """F1 of each selection against the gold passages."""
    chosen = inputs["selections"].join(gold.with_columns(hit=pl.lit(1)), on=["question_id", "passage_id"], how="left")
    counted = chosen.group_by("question_id", "scorer").agg(
        hits=pl.col("hit").sum(), chosen=pl.col("passage_id").count()
    )
    f1 = 2 * pl.col("hits") / (pl.col("chosen") + pl.col("k"))
    expected = pl.col("k") / pl.col("pooled")
    return (
        counted.join(gold_size(inputs["evidence"]), on="question_id")
        .join(pooled, on="question_id")
        .select(
            "question_id",
            "scorer",
            metric=pl.lit("f1_at_gold"),
            value=pl.when(pl.col("scorer") == "random").then(expected).otherwise(f1).cast(pl.Float64),
        )
    )


def _at_cutoffs(cfg, inputs, gold: pl.DataFrame, pooled: pl.DataFrame, ctx) -> pl.DataFrame:
    """Recall and gain at each cutoff, of passages and, where a session has several of them, of sessions."""
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
    found = []
    for level, (read, unit) in levels.items():
        depths = read(ranking, pooled, cfg.dataset.cutoffs)
        left = depths.filter(pl.col("depth").is_null()).select("scorer", "k").n_unique()
        if left:
            ctx.warn(f"{left} {level}figures are left out: their cutoff lies beyond the passages kept (rankers.keep)")
        ctx.counts[f"{level}cutoffs_left_out"] = left
        wide = cutoff_metrics(ranking, gold, depths, unit).unpivot(FIGURES, index=["question_id", "scorer", "k"])
        name = pl.concat_str(pl.lit(level), "variable", pl.lit("@"), "k")
        found.append(wide.select("question_id", "scorer", metric=name, value=pl.col("value")))
    return pl.concat(found)


def run(cfg, inputs, outputs, ctx):
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    whole = inputs["passages"].group_by("group_id").agg(pooled=pl.len())
    pooled = inputs["questions"].join(whole, on="group_id").select("question_id", "pooled")
    aware = inputs["selections"].select("scorer", "answer_aware").unique()
    parts = [_f1(inputs, gold, pooled)]
    if cfg.dataset.cutoffs:
        parts.append(_at_cutoffs(cfg, inputs, gold, pooled, ctx))
    outputs["question_metrics"] = (
        pl.concat(parts)
        .join(aware, on="scorer")
        .with_columns(order=pl.lit(None, pl.String), hop=pl.lit(None, pl.String))
        .sort("metric", "scorer", "question_id")
    )
    size = gold["question_id"].n_unique()
    without = inputs["questions"].height - size
    if without:
        ctx.warn(f"{without} questions have no resolvable gold passage and are left out")
    ctx.counts["questions_without_gold"] = without
    return {"questions": size, "scorers": parts[0]["scorer"].n_unique()}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
