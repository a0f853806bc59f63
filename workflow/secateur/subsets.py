"""Which questions a row speaks of: all, a named set of types, the first N of each group."""

from collections.abc import Mapping
from typing import Any

import polars as pl

__all__ = ["members"]


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
