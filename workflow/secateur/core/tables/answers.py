"""Tables of answers and of judges' verdicts."""

import polars as pl

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "answers",
        1,
        "Answers of a language model to each question under one context.",
        "answer_questions",
        ("question_id",),
        {
            "question_id": Column(S, "question"),
            "session_id": Column(S, "memory session of the question"),
            "n": Column(I32, "place in the session, from 0"),
            "cut": Column(I32, "units at the start of the context that did not fit the prompt"),
            "prompt_tokens": Column(I32, "tokens of the whole prompt"),
            "completion_tokens": Column(I32, "tokens written, those that end the answer included"),
            "text": Column(S, "the answer; may be empty"),
            "refused": Column(B, "whether the answer is a refusal (answer.refusals)"),
            "stopped": Column(
                S,
                "why the answer ends: end (by itself), stop (answer.stop), length, repeats, filtered (by an endpoint), "
                "thought (no answer follows it), or failed (the endpoint refused the prompt, or a filter left no text)",
            ),
        },
        {
            "stopped in end, stop, length, repeats, filtered, thought, failed": pl.col("stopped").is_in(
                ["end", "stop", "length", "repeats", "filtered", "thought", "failed"]
            ),
            "counts not negative": pl.min_horizontal("n", "cut", "prompt_tokens", "completion_tokens") >= 0,
            "one place for each question of a session": ("session_id", "n"),
        },
    ),
    Table(
        "verdicts",
        1,
        "Prompts to a judge about the answers under one context, and its replies.",
        "judge_answers",
        ("prompt",),
        {
            "prompt": Column(S, "digest of the prompt"),
            "characters": Column(I32, "characters of the prompt"),
            "reply": Column(
                S, "reply without its thoughts; null if the prompt does not fit the judge's window or is refused", True
            ),
        },
        {"characters not negative": pl.col("characters") >= 0},
    ),
)
