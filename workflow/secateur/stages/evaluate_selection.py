"""F1 of the selected context, per question and scorer. `random` is its expectation, k / passages."""

import polars as pl

from secateur.selection import gold_size


def run(cfg, inputs, outputs, ctx):
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    size = gold_size(inputs["evidence"])
    whole = inputs["passages"].group_by("group_id").agg(passages=pl.len())
    whole = inputs["questions"].select("question_id", "group_id").join(whole, on="group_id").drop("group_id")
    hits = gold.with_columns(hit=pl.lit(1))
    chosen = inputs["selections"].join(hits, on=["question_id", "passage_id"], how="left")
    counted = chosen.group_by("question_id", "scorer", "answer_aware").agg(
        hits=pl.col("hit").sum(), chosen=pl.col("passage_id").count()
    )
    f1 = 2 * pl.col("hits") / (pl.col("chosen") + pl.col("k"))
    expected = pl.col("k") / pl.col("passages")
    figures = (
        counted.join(size, on="question_id")
        .join(whole, on="question_id")
        .select(
            "question_id",
            "scorer",
            track=pl.lit(None, pl.String),
            answer_aware="answer_aware",
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
