"""How well a score separates correct, counterfactual, irrelevant and random passages (ECS, sections 3.1 and 3.3).

Tables of scores have question_id, kind, value. A passage of kind `random` is drawn from other questions.
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
    """(question_id, passage_id, kind): the passages of each question, and random ones of other questions.

    The random passages are the question's null: `count` of them rounded up to a multiple of four, as many from each
    quartile of token length. questions: question_id, group_id. passages: passage_id, group_id, kind, tokens.
    """
    pairs = questions.select("question_id", question_group="group_id").join(passages, how="cross")
    same_group = pl.col("group_id") == pl.col("question_group")
    related = pairs.filter(same_group).select("question_id", "passage_id", "kind")
    others = pairs.filter(~same_group).select("passage_id", "tokens", group_id="question_id")
    each = -(-count // QUARTILES)
    drawn = draws(questions.select("question_id", group_id="question_id"), others, each, seed)
    turn = pl.int_range(pl.len()).over("question_id", "quartile")
    random = drawn.filter(turn < each).select("question_id", "passage_id", kind=pl.lit(RANDOM))
    return pl.concat([related, random])


def by_kind(scores: pl.DataFrame, pooled: pl.DataFrame) -> pl.DataFrame:
    """(question_id, kind, scores): the columns of `scores` beside its keys, with the kind of each passage for its question."""
    keys = ("question_id", "passage_id")
    return scores.join(pooled, on=keys).select("question_id", "kind", pl.exclude(*keys, "kind"))


def rankings(scores: pl.DataFrame) -> pl.DataFrame:
    """(question_id, metric, value): share of passage pairs in which the better kind scores higher; ties count half."""
    tables = []
    for better, worse in CONTESTS:
        left, right = (scores.filter(pl.col("kind") == kind) for kind in (better, worse))
        margin = pl.col("value") - pl.col("value_right")
        wins = left.join(right, on="question_id").select("question_id", value=(margin.sign() + 1) / 2)
        tables.append(_means(wins, f"{better}_over_{worse}"))
    return pl.concat(tables)


def acceptances(scores: pl.DataFrame, thresholds: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """(question_id, metric, value): share of the passages of each kind that have every score above its own threshold.

    A passage that lacks one of the scores is left out. scores: question_id, kind, and a column per score.
    thresholds: name -> score -> its threshold.
    """
    tables = []
    for name, taus in thresholds.items():
        above = pl.all_horizontal(pl.col(score) > tau for score, tau in taus.items())
        accepted = scores.drop_nulls(list(taus)).select("question_id", "kind", value=above.cast(pl.Float64))
        tables += [_means(accepted.filter(kind=kind), f"accepts_{kind}@{name}") for kind in KINDS]
    return pl.concat(tables)


def curve(scores: pl.DataFrame) -> pl.DataFrame:
    """(kind, at, threshold, value, n): share of each kind that scores above each percentile of the random passages.

    at: the percentile as a fraction; value: mean over n questions. Empty without random passages.
    """
    random = scores.filter(pl.col("kind") == RANDOM)["value"]
    levels = pl.DataFrame({"at": PERCENTILES if len(random) else []}, schema={"at": pl.Float64}).with_columns(
        threshold=pl.col("at").map_elements(lambda at: random.quantile(at, "linear"), pl.Float64)
    )
    accepted = scores.join(levels, how="cross").with_columns(
        value=(pl.col("value") > pl.col("threshold")).cast(pl.Float64)
    )
    by_question = accepted.group_by("kind", "at", "threshold", "question_id", maintain_order=True)
    shares = by_question.agg(pl.col("value").mean())  # in order, so that sums over questions are the same to the bit
    means = shares.group_by("kind", "at", "threshold").agg(pl.col("value").mean(), n=pl.len().cast(pl.Int32))
    return means.sort(pl.col("kind").replace_strict(KINDS, range(len(KINDS))), "at")


def _means(values: pl.DataFrame, metric: str) -> pl.DataFrame:
    means = values.group_by("question_id", maintain_order=True).agg(pl.col("value").mean())
    return means.select("question_id", "value", metric=pl.lit(metric))


def quantiles(scores: pl.DataFrame, at: Sequence[float]) -> pl.DataFrame:
    """(kind, at, value, n): quantiles of the scores of each kind over all questions."""
    return pl.concat(
        scores.group_by("kind", maintain_order=True).agg(
            at=pl.lit(share), value=pl.col("value").quantile(share, "linear"), n=pl.len().cast(pl.Int32)
        )
        for share in at
    )
