"""Tables of answers: what a language model says."""

import polars as pl

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "answers",
        1,
        "What a language model answers to each question under one context.",
        "answer_questions",
        ("question_id",),
        {
            "question_id": Column(S, "question"),
            "session_id": Column(S, "the memory session it is asked in"),
            "n": Column(I32, "its place in the session, from 0"),
            "cut": Column(I32, "units of the block, from the first on, that did not fit the prompt"),
            "prompt_tokens": Column(I32, "tokens of the whole prompt"),
            "completion_tokens": Column(I32, "tokens that were written, with those that end the answer"),
            "text": Column(S, "the answer; empty where there was none"),
            "refused": Column(B, "whether it is a refusal (answer.refusals)"),
            "stopped": Column(
                S, "why it ends: end (by itself), stop (answer.stop), length, repeats, or filtered (by an endpoint)"
            ),
        },
        {
            "stopped in end, stop, length, repeats, filtered": pl.col("stopped").is_in(
                ["end", "stop", "length", "repeats", "filtered"]
            ),
            "counts not negative": pl.min_horizontal("n", "cut", "prompt_tokens", "completion_tokens") >= 0,
            "one place for each question of a session": ("session_id", "n"),
        },
    ),
    Table(
        "verdicts",
        1,
        "Everything that a judge was asked about the answers under one context, and what it said.",
        "judge_answers",
        ("prompt",),
        {
            "prompt": Column(S, "digest of the prompt"),
            "characters": Column(I32, "of the prompt"),
            "reply": Column(S, "what it said, word for word; null where the prompt does not fit its window", True),
        },
        {"characters not negative": pl.col("characters") >= 0},
    ),
)
