"""Subsets of questions: all, those of some types, the first N of each group, those with an answer."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

__all__ = ["MAIN", "answered", "members", "of_split", "resampled", "scored_questions"]

MAIN = ("cat1-4", "all")  # findings and leaderboards are about the first that a data set has


def members(questions: pl.DataFrame, evidence: pl.DataFrame, spec: Mapping[str, Any]) -> dict[str, set[str]]:
    """Question ids by subset. spec: `types` (name: types) and `first` (name: N) of a conf/dataset option.

    `first` takes the first N questions with resolved evidence of each group, in file order.
    """
    subsets = {"all": set(questions["question_id"])}
    for name, types in spec["types"].items():
        subsets[name] = set(questions.filter(pl.col("type").is_in(list(types)))["question_id"])
    scorable = questions.join(evidence.drop_nulls("passage_id").select("question_id").unique(), on="question_id")
    for name, count in spec["first"].items():
        early = scorable.sort("position").group_by("group_id", maintain_order=True).head(count)
        subsets[name] = set(early["question_id"])
    return subsets


def of_split(questions: pl.DataFrame, split: str) -> pl.DataFrame:
    """The questions of a split; "all" is every question."""
    return questions if split == "all" else questions.filter(pl.col("split") == split)


def resampled(questions: pl.DataFrame, minimum: int) -> pl.DataFrame:
    """The questions with the cluster that is resampled whole: their own, or under `minimum` clusters each its own.

    Decided on all questions of a data set, so that a subset of few clusters changes no unit.
    """
    few = questions["cluster_id"].n_unique() < minimum
    return questions.with_columns(cluster_id="question_id") if few else questions


def scored_questions(questions: pl.DataFrame, evidence: pl.DataFrame, dataset) -> tuple[pl.DataFrame, Collection[str]]:
    """(questions that have an answer to score passages by, ids of those with probes). dataset: its option."""
    subsets = members(questions, evidence, {"types": {}, "first": dataset.first})
    scored, probed = (subsets[name or "all"] for name in (dataset.scored, dataset.probed))
    unanswerable = pl.col("type").is_in(list(dataset.unanswerable)).fill_null(False)
    return questions.filter(~unanswerable & pl.col("question_id").is_in(list(scored))), probed


def answered(questions: pl.DataFrame, split: str, count: int) -> pl.DataFrame:
    """The first `count` questions of a split with an answer, by a hash of their id; "all" is every split."""
    with_answer = of_split(questions, split).filter(pl.col("answer").fill_null("").str.strip_chars() != "")
    draw = [hashlib.sha256(f"lift:{name}".encode()).hexdigest() for name in with_answer["question_id"]]
    return with_answer.with_columns(draw=pl.Series(draw, dtype=pl.String)).sort("draw").head(count).drop("draw")
