"""What a scorer tells apart: correct, counterfactual and irrelevant passages, and random ones (ECS, sections 3.1, 3.3).

All frames of scores have question_id, kind, value; a kind `random` is any passage of another question.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.ecs.scoring.null import QUARTILES, draws

__all__ = ["KINDS", "RANDOM", "acceptances", "by_kind", "curve", "pool", "quantiles", "rankings"]

RANDOM = "random"
KINDS = ("correct", "counterfactual", "irrelevant", RANDOM)
PERCENTILES = [n / 100 for n in range(100)]  # of the null: every threshold that it can set
CONTESTS = (("correct", "counterfactual"), ("correct", "irrelevant"), ("counterfactual", "irrelevant"))


def pool(questions: pl.DataFrame, passages: pl.DataFrame, count: int, seed: int) -> pl.DataFrame:
    """(question_id, passage_id, kind): each question's own passages, and random ones of other questions.

    questions: question_id, group_id; passages: passage_id, group_id, kind, tokens. The random ones are the question's
    null: `count` of them, as many from each quartile of token length, so one more where it is no multiple.
    """
    every = questions.select("question_id", own="group_id").join(passages, how="cross")
    mine = every.filter(pl.col("group_id") == pl.col("own")).select("question_id", "passage_id", "kind")
    others = every.filter(pl.col("group_id") != pl.col("own")).select("passage_id", "tokens", group_id="question_id")
    each = -(-count // QUARTILES)
    drawn = draws(questions.select("question_id", group_id="question_id"), others, each, seed)
    turn = pl.int_range(pl.len()).over("question_id", "quartile")
    chance = drawn.filter(turn < each).select("question_id", "passage_id", kind=pl.lit(RANDOM))
    return pl.concat([mine, chance])


def by_kind(scores: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """Scores (question_id, passage_id, value) with the kind of each passage to its question."""
    return scores.join(pooled, on=["question_id", "passage_id"]).select("question_id", "kind", "value")


def rankings(scores: pl.DataFrame) -> pl.DataFrame:
    """(question_id, metric, value): share of the pairs of passages in which the better kind scores higher; ties a half."""
    found = []
    for better, worse in CONTESTS:
        left, right = (scores.filter(pl.col("kind") == kind) for kind in (better, worse))
        above = pl.col("value") - pl.col("value_right")
        won = left.join(right, on="question_id").select("question_id", value=(above.sign() + 1) / 2)
        found.append(_means(won, f"{better}_over_{worse}"))
    return pl.concat(found)


def acceptances(scores: pl.DataFrame, thresholds: Mapping[str, float]) -> pl.DataFrame:
    """(question_id, metric, value): share of the passages of each kind that score above each threshold."""
    return pl.concat(
        _means(
            scores.filter(pl.col("kind") == kind).with_columns(value=(pl.col("value") > tau).cast(pl.Float64)),
            f"accepts_{kind}@{name}",
        )
        for name, tau in thresholds.items()
        for kind in KINDS
    )


def curve(scores: pl.DataFrame) -> pl.DataFrame:
    """(kind, at, threshold, value, n): share of the passages of each kind that score above each percentile `at` of the
    random ones, mean over questions; n questions. None where there are no random ones."""
    chance = scores.filter(pl.col("kind") == RANDOM)["value"]
    levels = pl.DataFrame({"at": PERCENTILES if len(chance) else []}, schema={"at": pl.Float64}).with_columns(
        threshold=pl.col("at").map_elements(lambda at: chance.quantile(at, "linear"), pl.Float64)
    )
    passed = scores.join(levels, how="cross").with_columns(
        value=(pl.col("value") > pl.col("threshold")).cast(pl.Float64)
    )
    shares = passed.group_by("kind", "at", "threshold", "question_id").agg(pl.col("value").mean())
    means = shares.group_by("kind", "at", "threshold").agg(pl.col("value").mean(), n=pl.len().cast(pl.Int32))
    return means.sort(pl.col("kind").replace_strict(KINDS, range(len(KINDS))), "at")


def _means(values: pl.DataFrame, metric: str) -> pl.DataFrame:
    means = values.group_by("question_id", maintain_order=True).agg(pl.col("value").mean())
    return means.select("question_id", "value", metric=pl.lit(metric))


def quantiles(scores: pl.DataFrame, at: Sequence[float]) -> pl.DataFrame:
    """(kind, at, value, n) of the values of each kind, over all questions."""
    return pl.concat(
        scores.group_by("kind", maintain_order=True).agg(
            at=pl.lit(share), value=pl.col("value").quantile(share, "linear"), n=pl.len().cast(pl.Int32)
        )
        for share in at
    )
