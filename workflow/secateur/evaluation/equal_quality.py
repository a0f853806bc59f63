"""Tokens at equal quality: the fewest tokens at which a system is as good as a reference's context.

A system's curve joins its mean quality at the mean tokens that it sends, from budget to budget, by straight lines.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.resampling import CONFIDENCE, drawn_means, units

__all__ = ["Equal", "at_equal_quality", "equal_quality", "tokens_to_reach"]

FROM_ZERO = {"evidence_recall": True, "token_recall": True, "token_f1": False}  # metric: whether no context has a 0
ROW = ["system", "order", "scorer", "answer_aware"]


@dataclass(frozen=True)
class Equal:
    """Tokens at which a system reaches the reference's quality, and their ratio to the reference's tokens.

    Infinite where it never does; reached: share of resamples in which it does.
    """

    tokens: float
    ratio: float
    low: float
    high: float
    reached: float


def tokens_to_reach(
    tokens: NDArray[np.float64], quality: NDArray[np.float64], level: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(draws,) fewest tokens at which each curve reaches a level; infinite where it never does.

    tokens, quality: (draws, points); level: (draws,). A curve that begins above the level reaches it at its first point.

    >>> tokens_to_reach(np.array([[0.0, 100, 200]]), np.array([[0, 0.5, 0.6]]), np.array([0.25]))
    array([50.])
    """
    order = np.argsort(tokens, axis=1, kind="stable")
    x, y = (np.take_along_axis(part, order, axis=1) for part in (tokens, quality))
    reaches = y >= level[:, None]
    row, end = np.arange(len(x)), reaches.argmax(1)
    start = np.maximum(end - 1, 0)
    rise = y[row, end] - y[row, start]
    share = np.divide(level - y[row, start], rise, out=np.ones(len(x)), where=rise > 0)
    between = x[row, start] + np.where(end > 0, share, 0) * (x[row, end] - x[row, start])
    return np.where(reaches.any(1), between, np.inf)


def at_equal_quality(
    tokens: NDArray[np.float64], quality: NDArray[np.float64], reference: NDArray[np.float64], unit, cfg
) -> Equal:
    """The ratio of tokens with its percentile interval; whole units are drawn with replacement.

    tokens, quality: (questions, points) of the system; reference: (questions, 2) its tokens and its quality; unit:
    (questions,); cfg: resamples and seed of the group eval.
    """
    values, points = np.concatenate([tokens, quality, reference], axis=1), tokens.shape[1]
    draws = np.concatenate([values.mean(0)[None], drawn_means(values, unit, cfg.resamples, cfg.seed)])
    needed = tokens_to_reach(draws[:, :points], draws[:, points:-2], draws[:, -1])
    ratio = needed / draws[:, -2]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratio[1:], [tail, 1 - tail], method="inverted_cdf")  # infinity has no weighted mean
    if len(np.unique(unit)) < 2:  # one unit bounds nothing
        low, high = -np.inf, np.inf
    return Equal(needed[0], ratio[0], low, high, float(np.isfinite(ratio[1:]).mean()))


# --- the table ------------------------------------------------------------------------------------


def equal_quality(figures: pl.DataFrame, variants: Sequence[Mapping[str, Any]], reference: str, cfg) -> pl.DataFrame:
    """The table `equal_quality` of a data set, without its name; no rows where the reference was not measured.

    figures: question_id, cluster_id, ROW, metric, value; variants: system, `curve` (the name of variants that differ only
    in the budget of answers), `budget` (under which they answer), `axes`; reference: a system without scorers, whose largest budget
    counts, for answers theirs; a row of one of its orders is compared with that order. Rows whose tokens another reader
    counts, or whose answers another writes, are left out.
    """
    rows = figures.with_columns(parts=pl.col("metric").str.split_exact("@", 1)).unnest("parts")
    rows = rows.rename({"field_0": "base", "field_1": "at"}).with_columns(pl.col("at").cast(pl.Int32, strict=False))
    theirs = rows.filter(pl.col("scorer").is_null(), system=reference)
    largest = theirs.filter(base="tokens")["at"].max()
    names = [c for c in TABLES["equal_quality"].columns if c != "dataset"]
    lines = []
    if largest is not None:
        about = {v["system"]: (v["curve"], v["budget"]) for v in variants}
        axes = {v["system"]: v["axes"] for v in variants}
        for metric, from_zero in FROM_ZERO.items():
            budget = (
                about[reference][1] if metric == "token_f1" else largest
            )  # answers are read at a budget of their own
            sent = theirs.filter(base="tokens", at=budget).select("question_id", "order", reference_tokens="value")
            at = pl.col("at").is_null() if metric == "token_f1" else pl.col("at") == largest
            level = theirs.filter(at, base=metric).select("question_id", "order", reference_quality="value")
            level = sent.join(level, on=["question_id", "order"], nulls_equal=True)
            alike = [name for name, of in axes.items() if _alike(of, axes[reference], metric) and name != reference]
            comparable = rows.filter(pl.col("base").is_in([metric, "tokens"]), pl.col("system").is_in(alike))
            for name, points in _curves(comparable, metric, about):
                line = _line(points, _of_order(level, name[ROW.index("order")]), from_zero, cfg)
                lines += [(*name, metric, reference, *line)] if line else []
    empty = TABLES["equal_quality"].empty().select(names)
    return pl.DataFrame(lines, schema=empty.schema, orient="row")


def _alike(axes: Mapping[str, str], reference: Mapping[str, str], metric: str) -> bool:
    """Whether tokens are counted as the reference's are, and answers written by the same model."""
    answers = [options.get("answer", "").rpartition(", ")[0] for options in (axes, reference)]
    return axes["reader"] == reference["reader"] and (metric != "token_f1" or answers[0] == answers[1])


def _of_order(reference: pl.DataFrame, order: str | None) -> pl.DataFrame:
    """The reference's rows of an order; its only ones where it has a single order."""
    alike = pl.col("order").eq_missing(pl.lit(order, pl.String)) if reference["order"].n_unique() > 1 else pl.lit(True)
    return reference.filter(alike).drop("order")


def _curves(
    rows: pl.DataFrame, metric: str, about: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[tuple, pl.DataFrame]]:
    """(system, order, scorer, answer-aware), and question_id, cluster_id, at, tokens, quality of each curve."""
    if metric == "token_f1":  # an answer is read at one budget: variants that differ in it alone make a curve
        budgets = pl.DataFrame(
            [(system, curve, budget) for system, (curve, budget) in about.items()],
            schema={"system": pl.String, "curve": pl.String, "budget": pl.Int32},
            orient="row",
        )
        rows = rows.join(budgets, on="system")
        is_tokens = pl.col("base") == "tokens"
        is_read = pl.when(is_tokens).then(pl.col("at") == pl.col("budget")).otherwise(pl.col("at").is_null())
        rows = rows.filter(is_read).with_columns(system="curve", at="budget")
    keys = ["question_id", "cluster_id", "at"]
    for name, part in rows.group_by(ROW, maintain_order=True):
        sides = [part.filter(base=base).select(*keys, v="value") for base in ("tokens", metric)]
        points = sides[0].rename({"v": "tokens"}).join(sides[1].rename({"v": "quality"}), on=keys)
        if points.height:
            yield name, points


def _line(points: pl.DataFrame, reference: pl.DataFrame, from_zero: bool, cfg) -> tuple | None:
    """The figures of one curve over the questions that have all of its budgets; None where there are none.

    None too where the reference's quality is 0, which any context reaches.
    """
    budgets = points["at"].n_unique()
    whole = points.filter(pl.len().over("question_id") == budgets).join(reference, on="question_id")
    whole = whole.sort("question_id", "at")
    if whole.is_empty():
        return None
    tokens, quality = (whole[side].to_numpy().reshape(-1, budgets) for side in ("tokens", "quality"))
    each = whole.unique("question_id", maintain_order=True)
    theirs = each.select("reference_tokens", "reference_quality").to_numpy()
    if theirs.mean(0).min() <= 0:
        return None
    at_most = not from_zero and quality[:, 0].mean() >= theirs[:, 1].mean()
    if from_zero:
        tokens, quality = (np.pad(part, ((0, 0), (1, 0))) for part in (tokens, quality))
    unit = units(each["cluster_id"].to_list())
    equal = at_equal_quality(tokens, quality, theirs, unit, cfg)
    ends = [value if np.isfinite(value) else None for value in (equal.tokens, equal.ratio, equal.low, equal.high)]
    return (*theirs.mean(0)[::-1].tolist(), *ends, equal.reached, at_most, len(theirs), len(np.unique(unit)))
