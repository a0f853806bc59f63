"""Conversations: the order of their turns, by what their passages state."""

import polars as pl

__all__ = ["ALL", "CONVERSATION", "dated", "joined"]

ALL = "all"  # the group of passages without one; each document of it is a conversation
CONVERSATION = ("group_id", pl.when(pl.col("group_id") == ALL).then("doc_id"))
ISO, TIME = r"^(\d{4}[-/.]\d\d?[-/.]\d\d?)(?:\D|$)", r"^[\d/.-]+\D+(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?Z?$"
DAYS = ("%d %B %Y", "%B %d, %Y")  # 14 March 2024


def dated(passages: pl.DataFrame) -> pl.DataFrame:
    """Passages with the `day` and `time` of their dates; null for a date in words of other forms."""
    date = pl.col("date").str.strip_chars()
    days = [date.str.extract(ISO).str.replace_all("[/.]", "-").str.to_date("%Y-%m-%d", strict=False)]
    days += [date.str.to_date(form, strict=False) for form in DAYS]
    return passages.with_columns(day=pl.coalesce(days), time=date.str.extract(TIME))


def joined(passages: pl.DataFrame) -> pl.DataFrame:
    """Passages, where the documents of a group in which people speak are the sessions of one conversation.

    Sessions follow each other by their first dates where all have one, else as in the file. passages: in the order of the
    file. What has no group stays as it is.
    """
    session = "doc_id"
    speaks = pl.col("speaker").is_not_null().any().over(session).all().over("group_id")
    several = pl.col(session).n_unique().over("group_id") > 1
    began = [pl.col(part).drop_nulls().first().over(session) for part in ("day", "time")]
    complete = [pl.when(pl.col(part).is_not_null().all().over("group_id")).then(part) for part in ("day", "time")]
    rows = (
        dated(passages)
        .with_row_index("row")
        .with_columns(pl.col("row").min().over(session), *began, joins=speaks & several & (pl.col("group_id") != ALL))
    )
    if not rows["joins"].any():
        return passages
    of_group = pl.when("joins").then
    renamed = (of_group("group_id").otherwise(session).alias(session), pl.coalesce("session_id", of_group(session)))
    turns = rows.with_columns(complete).sort("day", "time", "row", maintain_order=True).with_columns(renamed)
    place = pl.int_range(pl.len(), dtype=pl.Int32).over(session)
    return turns.with_columns(position=of_group(place).otherwise("position")).select(passages.columns)
