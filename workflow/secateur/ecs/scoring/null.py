"""A score against chance: z-scores over random passages, and the threshold that noise seldom passes.

Unrelated passages shift an answer too (theorem 1 holds of no real model), longer ones further. So a candidate is
compared with random passages of the same conversation and the same quartile of token length.
"""

import hashlib

import polars as pl

__all__ = ["draws", "null", "tau"]

QUARTILES = 4
CELL = ("question_id", "quartile")


def _order(seed: int, question: str, passage: str) -> int:
    """A passage's place in a question's random order, the same whatever else is there."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{question}:{passage}".encode(), digest_size=8).digest())


def draws(questions: pl.DataFrame, passages: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """(question_id, passage_id, quartile, drawn) of every passage of each question's group.

    questions: question_id, group_id; passages: passage_id, group_id, tokens. Quartiles are of the group's token
    lengths. drawn: count + 1 passages of each quartile, so that one can stand in for a null passage that is itself the
    candidate; they need statistics even where a pool leaves them out.
    """
    size, place = pl.len().over("group_id"), pl.col("tokens").rank("ordinal").over("group_id") - 1
    cut = passages.sort("group_id", "passage_id").with_columns(quartile=(place * QUARTILES // size).cast(pl.Int8))
    every = questions.select("question_id", "group_id").join(cut, on="group_id").drop("group_id", "tokens")
    keys = [_order(seed, q, p) for q, p in every.select("question_id", "passage_id").iter_rows()]
    turn = pl.Series("turn", keys, pl.UInt64)
    ranked = every.with_columns(turn).with_columns(turn=pl.col("turn").rank("ordinal").over(CELL))
    return ranked.with_columns(drawn=pl.col("turn") <= count + 1).sort(*CELL, "turn").drop("turn")


def null(scores: pl.DataFrame, drawn: pl.DataFrame, count: int) -> pl.DataFrame:
    """The scores (question_id, passage_id, value) as z-scores, with `chance` true for the passages of the null.

    drawn: the table of `draws` for the same count m. A candidate is never in its own null: of the m + 1 drawn passages
    the last is left out, or the candidate itself. Null where fewer than two others have a score, or all have the same.
    """
    ordered = drawn.with_columns(turn=pl.int_range(pl.len()).over(CELL))
    known = scores.join(ordered, on=["question_id", "passage_id"], how="left", maintain_order="left")
    known = known.with_columns(chance=pl.col("drawn").fill_null(False) & pl.col("value").is_not_null())
    turn = pl.when("chance").then("turn").rank("ordinal").over(CELL)  # among those that have a score
    middle = pl.col("value").filter("chance").mean().over(CELL)
    known = known.with_columns(turn=turn, x=pl.col("value") - middle)  # centred, so that the squares keep their digits
    inside, own = pl.col("chance"), pl.col("x")
    first = inside & (pl.col("turn") <= count)

    def of_others(term: pl.Expr, own_term: pl.Expr) -> pl.Expr:
        """A sum over the null of each candidate."""
        whole, without_last = term.filter(inside).sum().over(CELL), term.filter(first).sum().over(CELL)
        return pl.when(inside).then(whole - own_term).otherwise(without_last)

    n = of_others(own.is_not_null().cast(pl.Float64), pl.lit(1.0))
    mean, square = of_others(own, own) / n, of_others(own**2, own**2) / n
    deviation = ((square - mean**2).clip(0) * n / (n - 1)).sqrt()
    z = pl.when((n >= 2) & (deviation > 1e-9)).then((own - mean) / deviation)
    return known.select("question_id", "passage_id", value=z, chance="chance")


def tau(z_scores: pl.DataFrame, percentile: float) -> float:
    """The threshold that a share `percentile` of the null's passages stays below, over all questions; NaN without any."""
    chance = z_scores.filter(pl.col("chance"))["value"].drop_nulls()
    return float(chance.quantile(percentile, "linear")) if len(chance) else float("nan")
