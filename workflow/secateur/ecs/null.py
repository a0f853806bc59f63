"""A score against chance: z-scores over random passages, and the threshold that noise seldom passes.

Unrelated passages shift an answer too (theorem 1 holds of no real model), longer ones further. So a candidate is
compared with random passages of the same conversation and the same quartile of token length.
"""

import hashlib

import numpy as np
import polars as pl

__all__ = ["draws", "null", "tau"]

QUARTILES = 4
ENOUGH = 2  # passages a null needs at least


def _order(seed: int, question: str, passage: str) -> int:
    """A passage's place in a question's random order, the same whatever else is there."""
    return int.from_bytes(hashlib.blake2b(f"{seed}:{question}:{passage}".encode(), digest_size=8).digest())


def draws(questions: pl.DataFrame, passages: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """(question_id, passage_id, quartile, drawn) of every passage of each question's group.

    questions: question_id, group_id; passages: passage_id, group_id, tokens. Quartiles are of the group's token
    lengths. drawn: count + 1 passages of each quartile, so that one can stand for a null passage that is itself the
    candidate; these need statistics even where a pool leaves them out.
    """
    size, place = pl.len().over("group_id"), pl.col("tokens").rank("ordinal").over("group_id") - 1
    cut = passages.sort("group_id", "passage_id").with_columns(quartile=(place * QUARTILES // size).cast(pl.Int8))
    every = questions.select("question_id", "group_id").join(cut, on="group_id").drop("group_id", "tokens")
    keys = [_order(seed, q, p) for q, p in every.select("question_id", "passage_id").iter_rows()]
    turn = pl.Series("turn", keys, pl.UInt64)
    ranked = every.with_columns(turn).with_columns(turn=pl.col("turn").rank("ordinal").over("question_id", "quartile"))
    return ranked.with_columns(drawn=pl.col("turn") <= count + 1).sort("question_id", "quartile", "turn").drop("turn")


def null(scores: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """The scores (question_id, passage_id, value) as z-scores, with `chance` true for the passages of the null.

    drawn: the table of `draws`. A candidate is never in its own null: of count + 1 drawn passages the last is left
    out, or the candidate itself. Null where fewer than two others of its quartile have a score, or all have the same.
    """
    known = scores.join(drawn, on=["question_id", "passage_id"], how="left", maintain_order="left")
    found = np.full(known.height, np.nan)
    known = known.with_row_index("row")
    for part in known.partition_by("question_id", "quartile"):
        rows, values = part["row"].to_numpy(), part["value"].to_numpy().astype(float)
        mine = drawn.filter(
            (pl.col("question_id") == part["question_id"][0])
            & (pl.col("quartile") == part["quartile"][0])
            & pl.col("drawn")
        )["passage_id"].to_list()
        of = dict(zip(part["passage_id"], values, strict=True))
        sample = [p for p in mine if np.isfinite(of.get(p, np.nan))]
        for row, passage, value in zip(rows, part["passage_id"], values, strict=True):
            others = np.array([of[p] for p in sample if p != passage][: max(len(mine) - 1, ENOUGH)])
            if len(others) >= ENOUGH and others.std(ddof=1) > 0:
                found[row] = (value - others.mean()) / others.std(ddof=1)
    value = pl.Series("value", found).fill_nan(None)
    return known.select("question_id", "passage_id", value, chance=pl.col("drawn").fill_null(False))


def tau(z_scores: pl.DataFrame, percentile: float) -> float:
    """The threshold a share `percentile` of the null passages stays below, over all questions; NaN without any."""
    chance = z_scores.filter(pl.col("chance"))["value"].drop_nulls()
    return float(chance.quantile(percentile, "linear")) if len(chance) else float("nan")
