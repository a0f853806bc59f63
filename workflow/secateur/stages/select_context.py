"""k_gold: as many passages as the question has resolvable gold ones, by score."""

import polars as pl


def run(cfg, inputs, outputs, ctx):
    gold = inputs["evidence"].drop_nulls("passage_id").group_by("question_id").agg(k=pl.col("passage_id").n_unique())
    selected = inputs["utilities"].join(gold, on="question_id").filter(pl.col("rank") < pl.col("k"))
    outputs["selections"] = selected.select("question_id", "scorer", "rank", "passage_id")
    return {"questions": gold.height, "selected": selected.height}
