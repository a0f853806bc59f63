"""Memory sessions: questions that are asked one after the other of one thing (algorithm page, memory)."""

import polars as pl

from secateur.errors import SecateurError

__all__ = ["of_shard", "sessions"]


def sessions(questions: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> pl.DataFrame:
    """(question_id, session_id, n) of every question, n its place in the session, in file order.

    A dialogue, a group whose passages have speakers or sessions, is one session. Elsewhere it is the questions whose
    gold evidence lies in one document, and a question with evidence in several or none is alone. No session spans
    splits: what is fitted on one part never saw another.
    """
    spoken = passages.filter(pl.col("speaker").is_not_null() | pl.col("session_id").is_not_null())
    places = evidence.join(passages.select("passage_id", "doc_id"), on="passage_id")
    lying = places.group_by("question_id").agg(pl.col("doc_id").unique().sort())
    named = questions.join(lying, on="question_id", how="left", maintain_order="left").sort("position")
    of = (
        pl.when(pl.col("group_id").is_in(spoken["group_id"].unique().to_list()))
        .then(pl.lit("dialogue ") + pl.col("group_id"))
        .when(pl.col("doc_id").list.len() == 1)
        .then(pl.lit("document ") + pl.col("doc_id").list.first())
        .otherwise(pl.lit("question ") + pl.col("question_id"))
    )
    whole = named.with_columns(session_id=pl.concat_str([pl.col("split"), of], separator=" "))
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("session_id")
    return whole.with_columns(n=place).select("question_id", "session_id", "n")


def of_shard(asked: pl.DataFrame, shard: str) -> pl.DataFrame:
    """The rows of a shard "NofCOUNT" of `sessions`: whole sessions, by their first question, spread by their size.

    Raises SecateurError for a shard that is none.
    """
    number, _, count = shard.partition("of")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise SecateurError(f"shard {shard!r} is none. Fix: NofCOUNT with N below COUNT, as 0of4.")
    sizes = asked.group_by("session_id", maintain_order=True).len()
    before = pl.col("len").cum_sum() - pl.col("len")
    mine = sizes.filter(before * int(count) // max(asked.height, 1) == int(number))
    return asked.join(mine, on="session_id", how="semi", maintain_order="left")
