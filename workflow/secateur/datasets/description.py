"""What a data set looks like: sizes, lengths, evidence; to be read before any figure measured on it."""

from collections.abc import Iterator

import polars as pl

from secateur.models.word_pieces import Counter

__all__ = ["describe"]

ALL = "all"
UNTYPED = "none"


def describe(passages: pl.DataFrame, questions: pl.DataFrame, evidence: pl.DataFrame, count: Counter) -> pl.DataFrame:
    """The `dataset_statistics` table of one data set; lengths in the tokens of `count`.

    Rows whose statistic does not exist there are left out: sessions of documents, answers of a set without any.
    """
    tokens = passages.with_columns(tokens=pl.Series(count(passages["text"].to_list()), dtype=pl.Int64))
    parts = [
        *_passages(tokens),
        *_sessions(tokens),
        *_evidence(passages, questions, evidence),
        *_questions(questions, passages),
        *_answers(questions, count),
    ]
    return pl.concat([_spread(statistic, of, values) for statistic, of, values in parts if len(values)])


Values = tuple[str, str, pl.Series]  # statistic, of, values


def _spread(statistic: str, of: str, values: pl.Series) -> pl.DataFrame:
    """One row: how many values there are, and where they lie."""
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
    yield "passages_per_group", ALL, tokens.group_by("group_id").len()["len"]
    yield "tokens_per_passage", ALL, tokens["tokens"]


def _sessions(tokens: pl.DataFrame) -> Iterator[Values]:
    """Of the passages alone: what is none counts for no session."""
    sessions = tokens.drop_nulls("session_id").group_by("group_id", "session_id").agg(pl.col("tokens").sum())
    yield "sessions_per_group", ALL, sessions.group_by("group_id").len()["len"]
    yield "tokens_per_session", ALL, sessions["tokens"]


def _evidence(passages: pl.DataFrame, questions: pl.DataFrame, evidence: pl.DataFrame) -> Iterator[Values]:
    """Of the questions with gold that resolves, as every measure of recall is."""
    gold = evidence.select("question_id", "passage_id").drop_nulls().unique()
    gold = gold.join(questions.select("question_id"), on="question_id", how="semi")
    sizes = gold.group_by("question_id").len()["len"]
    yield "evidence_per_question", ALL, sizes
    yield "one_evidence", ALL, sizes == 1
    placed = gold.join(passages.select("passage_id", "session_id"), on="passage_id").drop_nulls("session_id")
    yield (
        "evidence_sessions_per_question",
        ALL,
        placed.group_by("question_id").agg(pl.col("session_id").n_unique())["session_id"],
    )


def _questions(questions: pl.DataFrame, passages: pl.DataFrame) -> Iterator[Values]:
    """Candidates of each question, and whether it is of a type: the mean is the type's share."""
    sizes = passages.group_by("group_id").agg(candidates=pl.len())
    yield "candidates_per_question", ALL, questions.join(sizes, on="group_id")["candidates"]
    types = questions["type"].fill_null(UNTYPED)
    for name in sorted(set(types)):
        yield "questions", name, types == name


def _answers(questions: pl.DataFrame, count: Counter) -> Iterator[Values]:
    """Lengths of the gold answers, of all questions and of each type."""
    known = questions.drop_nulls("answer")
    types = known["type"].fill_null(UNTYPED)
    tokens = pl.Series(count(known["answer"].to_list()), dtype=pl.Int64)
    yield "answer_tokens", ALL, tokens
    for name in sorted(set(types)):
        yield "answer_tokens", name, tokens.filter(types == name)
