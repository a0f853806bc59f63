"""All warnings about a corpus, for the stage that prepares it and for `secateur check`."""

from collections.abc import Iterator

import polars as pl

from secateur.datasets.conversations import ALL, CONVERSATION, dated
from secateur.datasets.language import english_only
from secateur.datasets.schema import classes
from secateur.datasets.texts import cut_sentences, short_sentences

__all__ = ["corpus_warnings"]

LACKING = 0.1  # share of passages without a speaker up to which theirs seem to be forgotten


def corpus_warnings(passages: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield (head, warning) for the passages of a corpus."""
    warnings = [("English", english_only(passages["text"].to_list())), ("sentences", cut_sentences(passages))]
    warnings += [("sentences", short_sentences(passages)), ("order", _sessions_apart(passages))]
    warnings += [("order", _backward_dates(passages)), ("speakers", _missing_speakers(passages))]
    warnings += [("passages", _repeated(passages))]
    yield from ((head, text) for head, text in warnings if text)


def _backward_dates(passages: pl.DataFrame) -> str:
    """Warning for conversations whose dates go backwards in reading order; a date in words of other forms is not judged."""
    turns = passages.drop_nulls("speaker").sort("doc_id", "position")
    last = pl.col("passage_id", "date", "day", "time").shift().over(CONVERSATION).name.prefix("last_")
    turns = dated(turns).drop_nulls("day").with_columns(last)
    earlier_time = (pl.col("day") == pl.col("last_day")) & (pl.col("time") < pl.col("last_time"))
    backward = turns.filter((pl.col("day") < pl.col("last_day")) | earlier_time)
    if backward.is_empty():
        return ""
    name, written, last, before = backward.select("passage_id", "date", "last_passage_id", "last_date").row(0)
    return (
        f"dates go backwards in reading order in {backward.select(*CONVERSATION).n_unique()} conversations: {name!r} "
        f"of {written} is read after {last!r} of {before}. Fix: sort their passages by date, or correct `date`"
    )


def _sessions_apart(passages: pl.DataFrame) -> str:
    """Warning for groups where several documents are dialogues and others are not: no order of theirs is known."""
    spoken = passages.drop_nulls("speaker").filter(pl.col("group_id") != ALL).group_by("group_id", maintain_order=True)
    apart = spoken.agg(pl.col("doc_id").n_unique()).filter(pl.col("doc_id") > 1)["group_id"]
    if apart.is_empty():
        return ""
    return (
        f"{len(apart)} groups, such as {apart[0]!r}, hold dialogues beside documents without speakers: their dialogues are "
        "read in the order of their ids. Fix: give a conversation a `group` of its own, or one `doc` and a `session` a part"
    )


def _missing_speakers(passages: pl.DataFrame) -> str:
    """Warning for a corpus that is no dialogue since a few of its passages lack a speaker."""
    missing = passages.filter(pl.col("speaker").is_null())["passage_id"]
    if not 0 < len(missing) <= LACKING * passages.height:
        return ""
    where = f"{len(missing):,} of {passages.height:,} passages have no `speaker`, such as {missing[0]!r}"
    return f"{where}. Fix: name one in each, else a folder is read as documents, not as dialogues"


def _repeated(passages: pl.DataFrame) -> str:
    """Warning for passages that repeat the text of another."""
    repeated = {passage: first for passage, first in classes(passages).items() if first != passage}
    if not repeated:
        return ""
    passage, first = next(iter(repeated.items()))
    return f"{len(repeated):,} repeat the text of another, such as {passage!r} that of {first!r}, and count as the same evidence"
