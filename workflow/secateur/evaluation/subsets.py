"""Which questions a row speaks of: all, a named set of types, the first N of each group."""

import hashlib
from collections.abc import Mapping
from typing import Any

import polars as pl

__all__ = ["answered", "members", "of_split"]


def members(questions: pl.DataFrame, evidence: pl.DataFrame, spec: Mapping[str, Any]) -> dict[str, set[str]]:
    """Question ids by subset. spec: `types` (name: types) and `first` (name: N) of conf/dataset.

    `first` takes the first N scorable questions (with resolved evidence) of each group in file order.
    """
    found = {"all": set(questions["question_id"])}
    for name, types in spec["types"].items():
        found[name] = set(questions.filter(pl.col("type").is_in(list(types)))["question_id"])
    scorable = questions.join(evidence.drop_nulls("passage_id").select("question_id").unique(), on="question_id")
    for name, count in spec["first"].items():
        early = scorable.sort("position").group_by("group_id", maintain_order=True).head(count)
        found[name] = set(early["question_id"])
    return found


def of_split(questions: pl.DataFrame, split: str) -> pl.DataFrame:
    """The questions of a split; "all": every question."""
    return questions if split == "all" else questions.filter(pl.col("split") == split)


def answered(questions: pl.DataFrame, split: str, count: int) -> pl.DataFrame:
    """So many questions of a split ("all": of any) that have an answer: the first by hash of their id."""
    own = of_split(questions, split).filter(pl.col("answer").fill_null("").str.strip_chars() != "")
    draw = [hashlib.sha256(f"lift:{name}".encode()).hexdigest() for name in own["question_id"]]
    return own.with_columns(draw=pl.Series(draw, dtype=pl.String)).sort("draw").head(count).drop("draw")
