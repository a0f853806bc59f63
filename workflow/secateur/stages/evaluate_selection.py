"""F1 at k = gold size, per question and scorer. `random` is its expectation, k / passages."""

import polars as pl


def run(cfg, inputs, outputs, ctx):
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    size = gold.group_by("question_id").agg(k=pl.len())
    pooled = inputs["pool"].group_by("question_id").agg(pooled=pl.len())
    chosen = inputs["selections"].join(gold.with_columns(hit=pl.lit(1)), on=["question_id", "passage_id"], how="left")
    counted = chosen.group_by("question_id", "scorer").agg(hits=pl.col("hit").sum(), chosen=pl.len())
    f1 = 2 * pl.col("hits") / (pl.col("chosen") + pl.col("k"))
    expected = pl.col("k") / pl.col("pooled")
    figures = (
        counted.join(size, on="question_id")
        .join(pooled, on="question_id")
        .select(
            "question_id",
            "scorer",
            track=pl.lit(None, pl.String),
            answer_aware=pl.col("scorer").str.contains("+answer", literal=True),
            metric=pl.lit("f1_at_gold"),
            value=pl.when(pl.col("scorer") == "random").then(expected).otherwise(f1).cast(pl.Float64),
        )
        .sort("scorer", "question_id")
    )
    without = inputs["questions"].height - size.height
    if without:
        ctx.warn(f"{without} questions have no resolvable gold passage and are left out")
    ctx.counts["questions_without_gold"] = without
    outputs["question_metrics"] = figures
    return {"questions": size.height, "scorers": figures["scorer"].n_unique()}
