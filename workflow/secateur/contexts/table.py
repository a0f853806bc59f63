"""The contexts table, which every evaluation reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.contexts.piece import Context, Row, text_of
from secateur.core.layout import PEER
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.models.word_pieces import Counter

__all__ = [
    "IMPORTED",
    "NOTHING",
    "OWN_LENGTH",
    "SEARCHED",
    "Read",
    "at",
    "context_rows",
    "lengths",
    "names_passages",
    "reached",
    "reads",
    "recalled_rows",
    "sizes_of",
    "texts",
]

IMPORTED = "imported"  # scorer and form of contexts made elsewhere
SEARCHED = (PEER, IMPORTED)  # scorers of contexts in which passages were searched
OWN_LENGTH = 0  # in place of a budget: contexts made elsewhere, and others of as many tokens for the same question
RECALLED = "recalled"  # scorer and form of the prompts of a session


@dataclass(frozen=True)
class Read:
    """A context as its reader sees it, row by row: words, source passage, and whether that passage is there whole."""

    lines: Sequence[str]
    passages: Sequence[str | None]
    whole: Sequence[bool]
    tokens: int


NOTHING = Read((), (), (), 0)


def context_rows(question: str, scorer: str, aware: bool, form: str, made: Mapping[int, Context]) -> Iterator[tuple]:
    """Rows of one question under one ranking, in the column order of the contexts table."""
    for budget, context in made.items():
        for place, row in enumerate(context.rows):
            yield (
                *(question, scorer, aware, budget, place, form, row.passage_id, row.whole),
                *(list(row.edge_ids), row.text, row.says, context.tokens),
            )


def at(contexts: pl.DataFrame, budget: int) -> pl.DataFrame:
    """The contexts at a budget; contexts made elsewhere have one length, whatever the budget."""
    return contexts.filter(pl.col("budget").is_in([budget, OWN_LENGTH]))


def names_passages(contexts: pl.DataFrame) -> bool:
    """Whether any row names its source passage; true where no row has a text."""
    return contexts["passage_id"].is_not_null().any() or not any(contexts["text"])


def texts(contexts: pl.DataFrame) -> dict[tuple[str, str, int], str]:
    """(question, scorer, budget) -> text of the context, as it is sent."""
    rows = contexts.sort("question_id", "scorer", "budget", "place")
    joined = rows.group_by("question_id", "scorer", "budget", maintain_order=True).agg(pl.col("text").str.join(""))
    return {(q, s, b): text for q, s, b, text in joined.iter_rows()}


def lengths(paths: Sequence[Path]) -> dict[str, int]:
    """Tokens of the context of each question, from the file of one system's contexts."""
    contexts = read_table(TABLES["contexts"], paths[0])
    return dict(contexts.select("question_id", "tokens").unique().iter_rows())


def reached(contexts: pl.DataFrame, answers: pl.DataFrame, budget: int) -> pl.DataFrame:
    """Rows of contexts that reached the prompt of an answered question, in order. answers: question_id, cut."""
    sent = at(contexts, budget).join(answers.select("question_id", "cut"), on="question_id")
    return sent.filter(pl.col("place") >= pl.col("cut")).sort("question_id", "place")


def reads(contexts: pl.DataFrame) -> Iterable[tuple[tuple[str, str, int], Read]]:
    """Yield (question, scorer, budget) and the context as its reader sees it."""
    rows = contexts.sort("question_id", "scorer", "budget", "place")
    shown = pl.coalesce("says", "text")
    lists = rows.group_by("question_id", "scorer", "budget", maintain_order=True).agg(
        shown.alias("said"), "passage_id", "whole", pl.col("tokens").first()
    )
    for question, scorer, budget, lines, passages, whole, tokens in lists.iter_rows():
        yield (question, scorer, budget), Read(lines, passages, whole, tokens)


def sizes_of(contexts: pl.DataFrame, budget: int, count: Counter) -> dict[str, list[list[dict[str, Any]]]]:
    """Contexts of each question at a budget and the smaller ones, largest first, as rows in order.

    `text` is without the separator; `size` is the tokens of the text as one line.
    """
    kept = contexts.filter(pl.col("budget") <= budget).with_columns(text=pl.col("text").str.strip_chars_end("\n"))
    lines = kept["text"].unique(maintain_order=True).to_list()
    tokens = pl.DataFrame(
        {"text": lines, "size": count([f"{text}\n" for text in lines])}, schema_overrides={"text": pl.String}
    )
    sized = kept.join(tokens, on="text").sort("question_id", -pl.col("budget"), "place")
    sized_contexts: dict[str, list[list[dict[str, Any]]]] = {}
    for (question, _), part in sized.partition_by("question_id", "budget", as_dict=True, maintain_order=True).items():
        sized_contexts.setdefault(question, []).append(part.to_dicts())
    return sized_contexts


def recalled_rows(question: str, rows: Sequence[Row], budget: int, count: Counter) -> Iterator[tuple]:
    """Rows of the contexts table for one prompt of a session."""
    tokens = int(count([text_of(rows)])[0]) if rows else 0
    return context_rows(question, RECALLED, False, RECALLED, {budget: Context(list(rows), tokens)})
