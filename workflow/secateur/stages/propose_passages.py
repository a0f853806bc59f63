"""The pool of each question: all passages of its conversation, in reading order."""

import polars as pl


def run(cfg, inputs, outputs, ctx):
    passages = inputs["passages"].sort("doc_id", "position").select("group_id", "passage_id")
    ranked = passages.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32).over("group_id"))
    pool = inputs["questions"].select("question_id", "group_id").join(ranked, on="group_id")
    outputs["pool"] = pool.select("question_id", "rank", "passage_id")
    return {"questions": inputs["questions"].height, "pooled": pool.height}
