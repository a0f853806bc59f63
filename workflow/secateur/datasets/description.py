"""Statistics of a data set: sizes, lengths and evidence, to read before any result on it."""

from collections.abc import Iterator

import polars as pl

from secateur.datasets.language import is_foreign
from secateur.models.word_pieces import Counter
from secateur.models.words import share_outside_latin

__all__ = ["describe"]

ALL = "all"
UNTYPED = "none"
Values = tuple[str, str, pl.Series]  # statistic, of, values


def describe(passages: pl.DataFrame, questions: pl.DataFrame, evidence: pl.DataFrame, count: Counter) -> pl.DataFrame:
    """The `dataset_statistics` table of one data set; lengths in the tokens of `count`.

    A statistic that does not apply has no row: sessions of documents, answers of a set without answers.
    """
    tokens = passages.with_columns(tokens=pl.Series(count(passages["text"].to_list()), dtype=pl.Int64))
    statistics = [
        *_passages(tokens),
        *_evidence(passages, questions, evidence),
        *_questions(questions, passages),
        *_answers(questions, count),
    ]
    return pl.concat([_summary(statistic, of, values) for statistic, of, values in statistics if len(values)])


def _summary(statistic: str, of: str, values: pl.Series) -> pl.DataFrame:
    """One row: number, mean, least, median and most of the values."""
    return values.cast(pl.Float64).rename("value").to_frame().select(
        statistic=pl.lit(statistic),
        of=pl.lit(of),
        n=pl.len().cast(pl.Int64),
        mean=pl.col("value").mean(),
        least=pl.col("value").min(),
        median=pl.col("value").median(),
        most=pl.col("value").max(),
    )  # fmt: skip


def _passages(tokens: pl.DataFrame) -> Iterator[Values]:
    """Passages and sessions; text that is no passage (an assistant's turn) counts for no session."""
    yield "passages_per_group", ALL, tokens.group_by("group_id").len()["len"]
    yield "tokens_per_passage", ALL, tokens["tokens"]
    if is_foreign(tokens["text"].to_list()):
        yield "letters_outside_latin", ALL, pl.Series([share_outside_latin([text]) for text in tokens["text"]])
    sessions = tokens.drop_nulls("session_id").group_by("group_id", "session_id").agg(pl.col("tokens").sum())
    yield "sessions_per_group", ALL, sessions.group_by("group_id").len()["len"]
    yield "tokens_per_session", ALL, sessions["tokens"]


def _evidence(passages: pl.DataFrame, questions: pl.DataFrame, evidence: pl.DataFrame) -> Iterator[Values]:
    """Evidence of the questions with resolved gold, the questions of every measure of recall."""
    gold = evidence.select("question_id", "passage_id").drop_nulls().unique()
    gold = gold.join(questions.select("question_id"), on="question_id", how="semi")
    sizes = gold.group_by("question_id").len()["len"]
    yield "evidence_per_question", ALL, sizes
    yield "one_evidence", ALL, sizes == 1
    placed = gold.join(passages.select("passage_id", "session_id"), on="passage_id").drop_nulls("session_id")
    sessions = placed.group_by("question_id").agg(pl.col("session_id").n_unique())
    yield "evidence_sessions_per_question", ALL, sessions["session_id"]


def _questions(questions: pl.DataFrame, passages: pl.DataFrame) -> Iterator[Values]:
    """Candidates of each question, and an indicator of each type, whose mean is the type's share."""
    sizes = passages.group_by("group_id").agg(candidates=pl.len())
    yield "candidates_per_question", ALL, questions.join(sizes, on="group_id")["candidates"]
    types = questions["type"].fill_null(UNTYPED)
    for name in sorted(set(types)):
        yield "questions", name, types == name


def _answers(questions: pl.DataFrame, count: Counter) -> Iterator[Values]:
    """Lengths of the gold answers, of all questions and of each type."""
    answered = questions.drop_nulls("answer")
    types = answered["type"].fill_null(UNTYPED)
    tokens = pl.Series(count(answered["answer"].to_list()), dtype=pl.Int64)
    yield "answer_tokens", ALL, tokens
    for name in sorted(set(types)):
        yield "answer_tokens", name, tokens.filter(types == name)
