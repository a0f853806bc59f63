"""How much a language model will read at most, from the texts alone: the pool itself hangs on rankings that are not there yet."""

from collections.abc import Collection

import polars as pl

from secateur.ecs.scoring.null import QUARTILES

__all__ = ["pairs_at_most"]


def pairs_at_most(
    questions: pl.DataFrame, passages: pl.DataFrame, probed: Collection[str], pool: int, aware: int, draws: int
) -> int:
    """Pairs of question and passage in a pool (`pooled`) at most: what is ranked, drawn and ranked by the answer may be one.

    A question has no more candidates than its group has passages.
    """
    size = passages.group_by("group_id").agg(size=pl.len())
    by_chance = pl.when(pl.col("question_id").is_in(list(probed))).then(QUARTILES * (draws + 1)).otherwise(0)
    by_answer = pl.when(pl.col("answer").is_not_null()).then(aware).otherwise(0)
    wanted = questions.join(size, on="group_id").select(pl.min_horizontal("size", pool + by_answer + by_chance))
    return int(wanted.sum().item())
