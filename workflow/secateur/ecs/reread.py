"""Ranked sentences read again by a language model: those move up that make the question likelier (pmi_q)."""

import polars as pl

__all__ = ["reread"]


def reread(ranked: pl.DataFrame, pmi_q: pl.DataFrame, weight: float) -> pl.DataFrame:
    """The table `ranked` with weight x z(pmi_q) added to the scores of the sentences that were read.

    pmi_q: question_id, passage_id, value. z is over a question's read sentences and counted from its least, so that a
    sentence that was read never falls behind one that was not.
    """
    value = pl.col("value")
    z = (value - value.min()) / (value.std(ddof=0) + 1e-9)  # a constant pmi_q moves nothing
    gain = pmi_q.with_columns(gain=z.over("question_id")).select("question_id", "passage_id", "gain")
    moved = ranked.join(gain, on=["question_id", "passage_id"], how="left", maintain_order="left")
    score = (pl.col("score") + weight * pl.col("gain").fill_null(0)).cast(pl.Float32)
    best = moved.with_columns(score=score).sort("question_id", "score", "rank", descending=[False, True, False])
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id")
    return best.with_columns(rank=place).select(ranked.columns)
