"""The null of a score: z-scores against random passages, and the threshold that few random passages pass.

Unrelated passages shift an answer too, and longer ones shift it further: theorem 1 of ECS holds for no real model. So a
candidate is compared with random passages of the same conversation and the same quartile of token length.
"""

import hashlib

import polars as pl

__all__ = ["draws", "null", "tau"]

QUARTILES = 4
ROUNDING = 1e-6  # a smaller deviation is none: of nats, or of the largest score where that is above 1
CELL = ("question_id", "quartile")


def _order(seed: int, question: str, passage: str) -> int:
    """Sort key of a passage in a question's random order, independent of all other passages."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{question}:{passage}".encode(), digest_size=8).digest())


def draws(questions: pl.DataFrame, passages: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """(question_id, passage_id, quartile, drawn) of every passage of each question's group.

    quartile: of the token lengths in the group. drawn: true for count + 1 passages of each quartile, so that a candidate
    that was drawn itself can be replaced; they need statistics even if a pool leaves them out.
    questions: question_id, group_id. passages: passage_id, group_id, tokens.
    """
    size, place = pl.len().over("group_id"), pl.col("tokens").rank("ordinal").over("group_id") - 1
    cut = passages.sort("group_id", "passage_id").with_columns(quartile=(place * QUARTILES // size).cast(pl.Int8))
    pairs = questions.select("question_id", "group_id").join(cut, on="group_id").drop("group_id", "tokens")
    keys = [_order(seed, q, p) for q, p in pairs.select("question_id", "passage_id").iter_rows()]
    turn = pl.Series("turn", keys, pl.UInt64)
    ranked = pairs.with_columns(turn).with_columns(turn=pl.col("turn").rank("ordinal").over(CELL))
    return ranked.with_columns(drawn=pl.col("turn") <= count + 1).sort(*CELL, "turn").drop("turn")


def null(scores: pl.DataFrame, drawn: pl.DataFrame, count: int) -> pl.DataFrame:
    """(question_id, passage_id, value, chance): scores as z-scores against the null; chance marks the null's passages.

    A candidate is never in its null: of the count + 1 drawn passages the candidate is left out, else the last. The value is
    null if fewer than two of the others have a score, or all have the same but for rounding.
    scores: question_id, passage_id, value. drawn: the table of `draws` for the same count.
    """
    ordered = drawn.with_columns(turn=pl.int_range(pl.len()).over(CELL))
    scored = scores.join(ordered, on=["question_id", "passage_id"], how="left", maintain_order="left")
    scored = scored.with_columns(chance=pl.col("drawn").fill_null(False) & pl.col("value").is_not_null())
    turn = pl.when("chance").then("turn").rank("ordinal").over(CELL)  # among the passages with a score
    centre = pl.col("value").filter("chance").mean().over(CELL)
    scored = scored.with_columns(turn=turn, x=pl.col("value") - centre)  # squares of centred values keep their digits
    inside, x = pl.col("chance"), pl.col("x")
    first = inside & (pl.col("turn") <= count)

    def null_sum(term: pl.Expr, candidate_term: pl.Expr) -> pl.Expr:
        """Sum of a term over the null of each candidate."""
        whole, without_last = term.filter(inside).sum().over(CELL), term.filter(first).sum().over(CELL)
        return pl.when(inside).then(whole - candidate_term).otherwise(without_last)

    n = null_sum(x.is_not_null().cast(pl.Float64), pl.lit(1.0))
    mean, square = null_sum(x, x) / n, null_sum(x**2, x**2) / n
    deviation = ((square - mean**2).clip(0) * n / (n - 1)).sqrt()
    largest = x.abs().max().over(CELL)  # the sums lose what is smaller than its 1e-8th part
    z = pl.when((n >= 2) & (deviation > ROUNDING * pl.max_horizontal(largest, 1.0))).then((x - mean) / deviation)
    return scored.select("question_id", "passage_id", value=z, chance="chance")


def tau(z_scores: pl.DataFrame, percentile: float) -> float:
    """Quantile `percentile` (a fraction) of the null's z-scores over all questions; NaN without a null."""
    chance = z_scores.filter(pl.col("chance"))["value"].drop_nulls()
    return float(chance.quantile(percentile, "linear")) if len(chance) else float("nan")
