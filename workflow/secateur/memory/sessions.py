"""Memory sessions: the questions that share what was asked, answered and shown before (paper 1.1, P3)."""

import polars as pl

from secateur.core.errors import SecateurError

__all__ = ["of_shard", "sessions"]


def sessions(questions: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, session_id, n): the session of each question, and its index there, in file order.

    A session is a conversation, or all questions of a group whose first gold evidence is in one document. Where a group is
    one document, all its questions are one session, resolved evidence or not.
    """
    alone = passages.group_by("group_id").agg(pl.col("doc_id").n_unique() == 1).rename({"doc_id": "alone"})
    placed = questions.join(alone, on="group_id", how="left", maintain_order="left").sort("position", "question_id")
    several = passages["group_id"].n_unique() > 1  # a document of one group may have the name of another group
    within = pl.concat_str("group_id", "cluster_id", separator=" · ") if several else pl.col("cluster_id")
    session = pl.when(pl.col("alone").fill_null(False)).then("group_id").otherwise(within)
    assigned = placed.select("question_id", session_id=session)
    return assigned.with_columns(n=pl.int_range(pl.len(), dtype=pl.Int32).over("session_id")).sort("session_id", "n")


def of_shard(asked: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The rows of a shard "NofCOUNT" of `sessions`: whole sessions, spread by size.

    Raises SecateurError for a malformed shard.
    """
    number, _, count = shard.partition("of")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise SecateurError(f"shard {shard!r}: allowed: NofCOUNT with N below COUNT. Fix: 0of4, for example.")
    sizes = asked.group_by("session_id", maintain_order=True).len()
    before = pl.col("len").cum_sum() - pl.col("len")
    mine = sizes.filter(before * int(count) // max(asked.height, 1) == int(number))
    return asked.join(mine, on="session_id", how="semi", maintain_order="left")
