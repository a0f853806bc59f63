"""Select passages from scores: the tables `rankings` and `selections`."""

import polars as pl

__all__ = ["NOTHING", "above", "at_gold_size", "gold_size", "ranked", "without_excluded"]

NOTHING = -1  # rank in the row of an empty selection


def gold_size(evidence: pl.DataFrame) -> pl.DataFrame:
    """(question_id, k): number of gold passages."""
    return evidence.drop_nulls("passage_id").group_by("question_id").agg(k=pl.col("passage_id").n_unique())


def ranked(scores: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """The table `rankings` from scores: best first, ties to the earlier passage; passages without a score are left out.

    scores: question_id, scorer, passage_id, value, answer_aware.
    """
    order = passages.sort("doc_id", "position").select("passage_id", place=pl.int_range(pl.len()))
    scored = scores.filter(pl.col("value").is_finite()).join(order, on="passage_id")
    best = scored.sort("question_id", "scorer", "value", "place", descending=[False, False, True, False])
    rank = pl.int_range(pl.len(), dtype=pl.Int32).over("question_id", "scorer")
    return best.select(
        "question_id",
        "scorer",
        rank.alias("rank"),
        "passage_id",
        pl.lit(None, pl.Int32).alias("edge_id"),
        pl.col("value").cast(pl.Float32),
        "answer_aware",
    )


def without_excluded(rankings: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """The table `rankings` without the passage that each question excludes; those behind it move up."""
    excluded = questions.select("question_id", passage_id="excluded")
    kept = rankings.join(excluded, on=["question_id", "passage_id"], how="anti")
    rank = pl.col("rank").rank("ordinal").over("question_id", "scorer") - 1
    return kept.with_columns(rank.cast(pl.Int32))


def at_gold_size(utilities: pl.DataFrame, evidence: pl.DataFrame) -> pl.DataFrame:
    """The table `selections`: the k best passages, k the number of gold passages (R-precision; ECS, section 4.1)."""
    best = utilities.join(gold_size(evidence), on="question_id").filter(pl.col("rank") < pl.col("k"))
    return best.select("question_id", "scorer", "rank", "passage_id", "answer_aware")


def above(scores: pl.DataFrame, tau: float, passages: pl.DataFrame) -> pl.DataFrame:
    """The table `selections`: all passages that score above tau, best first; a selection may be empty."""
    best = ranked(scores.filter(pl.col("value") > tau), passages).drop("value", "edge_id")
    scored = scores.filter(pl.col("value").is_finite()).select("question_id", "scorer", "answer_aware").unique()
    empty = scored.join(best, on=["question_id", "scorer"], how="anti").with_columns(
        rank=pl.lit(NOTHING, pl.Int32), passage_id=pl.lit(None, pl.String)
    )
    return pl.concat([best, empty.select(best.columns)])
