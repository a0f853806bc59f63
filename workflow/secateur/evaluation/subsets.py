"""Subsets of questions: all, those of some types, the first N of each group, those with an answer."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.datasets.schema import DRAFTED
from secateur.models.words import same_text

__all__ = ["MAIN", "Units", "answered", "are_drafted", "members", "of_split", "scored_questions", "units_of"]

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


@dataclass(frozen=True)
class Units:
    """The resampling units of a data set.

    table: question_id, first (where questions are the units, the first of the same text in its group, which stands for all
    of them), cluster_id (the unit). documents: those with questions whose evidence is known. missing: how many more would make documents the units.
    are_drafted: whether all questions are drafted, and so one unit.
    """

    table: pl.DataFrame
    documents: int
    missing: int
    are_drafted: bool = False

    def of(self, figures: pl.DataFrame) -> pl.DataFrame:
        """Figures of these questions with their unit; those of equal questions are averaged under the first."""
        named = figures.join(self.table, on="question_id")
        if not (self.table["question_id"] == self.table["first"]).all():
            keys = [name for name in named.columns if name not in ("question_id", "value")]
            named = named.group_by(keys, maintain_order=True).agg(pl.col("value").mean())
        return named.with_columns(question_id="first").select(*figures.columns, "cluster_id")


def units_of(questions: pl.DataFrame, evidence: pl.DataFrame, minimum: int) -> Units:
    """The units of all questions of a data set, so that a subset of few documents changes none.

    Documents (conversations) where at least `minimum` have questions with resolved evidence, else questions, where equal ones
    of a group are one. Drafted questions are together one unit: they were made by one rule, and do not tell how people's
    vary. minimum: the larger of `eval.min_clusters` and `eval.min_units`, so that more data never is less.
    """
    if are_drafted(questions):
        return Units(questions.select("question_id", first="question_id", cluster_id=pl.lit("drafted")), 0, 0, True)
    ordered = questions.sort("position").with_columns(
        same=pl.col("text").map_elements(same_text, return_dtype=pl.String)
    )
    firsts = ordered.with_columns(first=pl.col("question_id").first().over("group_id", "same"))
    resolved = firsts.join(evidence.drop_nulls("passage_id"), on="question_id", how="semi")
    documents = resolved["cluster_id"].n_unique()
    if documents >= minimum:  # in which equal questions of a group stand together
        return Units(firsts.select("question_id", "cluster_id", first="question_id"), documents, 0)
    table = firsts.select("question_id", "first", cluster_id="first")
    return Units(table, documents, minimum - documents)


def are_drafted(questions: pl.DataFrame) -> bool:
    """Whether no question was asked by a person; where any was, readers leave drafted ones out."""
    return not questions.is_empty() and bool(questions["type"].is_in(DRAFTED).fill_null(False).all())


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
