"""Means with intervals, and paired differences of two sets of per-question values over resampling units.

A row is a system (with its scorer, where it has several) in one order. Its axes are ranker, reranker, form, packing,
placement, reader, memory, and for figures of answers what answers, at which budget. Two rows are paired that differ in
one axis; rows of different orders are never paired.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.figure import headlines
from secateur.evaluation.resampling import CONFIDENCE, holm, jackknife, paired, units

__all__ = [
    "AXES",
    "OF_POLICY",
    "PRIMARY",
    "Row",
    "axes_of",
    "claims",
    "common",
    "differences",
    "differing",
    "paired_differences",
    "pairs",
    "significant",
    "summarise",
    "to_best",
]

OF_POLICY = pl.col("metric").str.starts_with("policy_")  # rows of a policy's choices and of its baselines
AXES = ("ranker", "reranker", "form", "packing", "placement", "reader", "memory", "answer")
OF_ANSWERS = (
    "rouge_l",
    "token_f1",
    "typed_match",
    "read_gain",
    "judged_acc",
)  # metrics that read contexts at the budget of answers
ROW = ["system", "order", "scorer", "answer_aware", "metric"]
# Values of the column axis that are no axes.
MODEL, STRONGEST, NAMED, BEST, PRIMARY = ("language_model", "strongest", "named", "best", "primary")


# --- means ---------------------------------------------------------------------------------------------


def claims(figures: pl.DataFrame, budgets: Sequence[int], gained: Sequence[int]) -> pl.DataFrame:
    """Rows METRIC@claim: each question's mean of METRIC over the budgets; of answer gain over `gained`.

    A question that lacks one of the budgets has no such row.
    """
    gain = pl.col("metric").str.starts_with("answer_gain@")
    return pl.concat([_claims(figures.filter(~gain), budgets), _claims(figures.filter(gain), gained)])


def _claims(figures: pl.DataFrame, budgets: Sequence[int]) -> pl.DataFrame:
    split = pl.col("metric").str.split_exact("@", 1).struct.rename_fields(["base", "at"])
    at = (
        figures.with_columns(split.alias("parts")).unnest("parts").filter(pl.col("at").is_in([str(b) for b in budgets]))
    )
    row = [c for c in figures.columns if c not in ("metric", "value")]
    means = at.group_by(*row, "base", maintain_order=True).agg(pl.col("value").mean(), count=pl.len())
    whole = means.filter(pl.col("count") == len(budgets)).with_columns(metric=pl.col("base") + "@claim")
    return whole.select(figures.columns)


def _wide(part: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, np.ndarray]]:
    """(row names, questions, values (questions, rows)) of the rows that share the same questions."""
    keyed = part.with_columns(row=pl.concat_str([pl.col(c).cast(pl.String).fill_null("") for c in ROW], separator="\n"))
    sets = keyed.group_by("row").agg(same=pl.col("question_id").sort().str.join("\n"))
    for (_,), group in sets.sort("row").group_by("same", maintain_order=True):
        rows = keyed.join(group.select("row"), on="row").sort("row", "question_id")
        names = rows.select("row", *ROW).unique("row", maintain_order=True)
        questions = (
            rows.select("question_id", "cluster_id").unique("question_id", maintain_order=True).sort("question_id")
        )
        yield names, questions, rows["value"].to_numpy().reshape(names.height, questions.height).T


def summarise(part: pl.DataFrame) -> pl.DataFrame:
    """value, low, high, n, units of every row (system, order, scorer, metric) of one subset."""
    summaries = []
    for names, questions, values in _wide(part):
        unit = units(questions["cluster_id"].to_list())
        low, high = jackknife(values, unit, CONFIDENCE)
        columns = {"value": values.mean(0), "low": low, "high": high}
        counts = {"n": pl.lit(questions.height, pl.Int32), "units": pl.lit(len(np.unique(unit)), pl.Int32)}
        series = {k: pl.Series(v, dtype=pl.Float64).replace([-np.inf, np.inf], None) for k, v in columns.items()}
        summaries.append(names.drop("row").with_columns(**counts, **series))
    return pl.concat(summaries) if summaries else pl.DataFrame(schema=_SUMMARY)


_NAMES = {"system": pl.String, "order": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String}
_SUMMARY = _NAMES | {"n": pl.Int32, "units": pl.Int32, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}


# --- paired differences --------------------------------------------------------------------------------


def common(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """question_id, cluster_id, a, b of the questions that both have, in the order of their ids.

    a: question_id, cluster_id, value; b: question_id, value; one row per question.
    """
    values = a.select("question_id", "cluster_id", a="value")
    if a["question_id"].equals(b["question_id"]):  # a join takes six times as long
        return values.with_columns(b=b["value"]).sort("question_id")
    return values.join(b.select("question_id", b="value"), on="question_id").sort("question_id")


def paired_differences(samples: Sequence[pl.DataFrame], cfg) -> pl.DataFrame:
    """a, b, difference, low, high, p, p_holm, n, units of each sample, in their order.

    Interval and p come from one sign-flip test over whole resampling units, so that they agree. p_holm is adjusted
    over all samples. An end of an interval is null where too few units bound it.

    samples: question_id, cluster_id, a, b, at least one question each (`common`). cfg: permutations,
    permutations_at_floor and seed of the group eval.
    """
    alike: dict[tuple, list[int]] = {}  # samples of the same questions and clusters are tested at once
    for n, sample in enumerate(samples):
        alike.setdefault(tuple(map(tuple, sample.select("question_id", "cluster_id"))), []).append(n)
    rows: dict[int, tuple] = {}
    for same in alike.values():
        values = np.stack([(samples[n]["a"] - samples[n]["b"]).to_numpy() for n in same], axis=1)
        unit = units(samples[same[0]]["cluster_id"].to_list())
        test = paired(values, unit, cfg.permutations, CONFIDENCE, cfg.seed, cfg.permutations_at_floor)
        for column, n in enumerate(same):
            ends = [float(end[column]) if np.isfinite(end[column]) else None for end in (test.low, test.high)]
            means = (samples[n]["a"].mean(), samples[n]["b"].mean(), float(test.mean[column]))
            rows[n] = (*means, *ends, float(test.p[column]), len(values), test.units)
    table = pl.DataFrame([rows[n] for n in range(len(samples))], schema=_DIFFERENCE, orient="row")
    equal = [sample["a"].equals(sample["b"]) for sample in samples]
    return table.with_columns(p_holm=pl.Series(_adjusted(table["p"].to_numpy(), equal), dtype=pl.Float64))


_DIFFERENCE = dict.fromkeys(("a", "b", "difference", "low", "high", "p"), pl.Float64)
_DIFFERENCE |= {"n": pl.Int32, "units": pl.Int32}


def _adjusted(p: np.ndarray, equal: Sequence[bool]) -> np.ndarray:
    """Holm's p over the samples in which any question differs; 1 for the others.

    Two rows are equal in every question where only the place of a text changed, for example: nothing is tested there.
    """
    return np.nan_to_num(holm(np.where(equal, np.nan, p)), nan=1.0)


def significant(p: float) -> bool:
    """Whether a p rejects that there is no difference.

    >>> significant(0.05), significant(0.051)
    (True, False)
    """
    return p <= 1 - CONFIDENCE + 1e-12


# --- rows that are compared ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A row of figures and its axes.

    listed: a scorer of a list of rankers, which is a baseline; ranks: whether it is no control.
    """

    system: str
    order: str | None
    scorer: str | None
    answer_aware: bool
    axes: tuple[tuple[str, str], ...]
    listed: bool
    ranks: bool = True

    @property
    def key(self) -> tuple:
        """Its name among the rows of a metric."""
        return (self.system, self.order, self.scorer, self.answer_aware)


Choose = Callable[[Sequence[Row], Mapping[tuple, float], Mapping[tuple, int]], list[tuple[Row, Row, str]]]


def pairs(
    rows: Sequence[Row],
    means: Mapping[tuple, float],
    against: Sequence[str],
    matched_baselines: Mapping[str, Sequence[str]],
) -> list[tuple[Row, Row, str]]:
    """(row, baseline, axis in which they differ) for rows of one metric, order and answer-awareness.

    Paired are two systems that differ in one axis, and a system and a listed ranker that do. A system of several
    scorers is paired with the strongest listed ranker and those of `against`; each scorer with its matched baselines,
    which lack scores of a language model. The baseline is the listed row, else the one that comes first.

    means: of each row, by its key; matched_baselines: scorer -> scorers.
    """
    single = [row for row in rows if not row.listed and row.scorer is None]
    several = [row for row in rows if not row.listed and row.scorer is not None and row.ranks]
    axes = {row.axes for row in single}
    listed = [row for row in rows if row.listed and row.axes not in axes]  # else the same contexts under another name
    chosen = [(b, a, axis) for a, b in combinations(single, 2) if (axis := _axis(a, b))]
    chosen += [(row, base, axis) for row in single for base in listed if (axis := _axis(base, row))]
    by_name = {(row.system, row.scorer): row for row in several}
    best = max(listed, key=lambda row: (means[row.key], row.scorer), default=None)
    for row in several:
        matched = (by_name.get((row.system, name)) for name in matched_baselines.get(row.scorer, ()))
        chosen += [(row, base, MODEL) for base in matched if base]
        chosen += [(row, best, STRONGEST)] if best else []
    named = [row for row in rows if row.scorer and row.scorer.removesuffix("+answer") in against]
    chosen += [(r, b, NAMED) for r in several for b in named if r is not b and b is not best and _same_policy(r, b)]
    unique = {frozenset((row.key, base.key)): (row, base, axis) for row, base, axis in reversed(chosen)}
    return list(reversed(unique.values()))  # a pair is tested once, in the direction that was chosen first


def _same_policy(row: Row, baseline: Row) -> bool:
    """A policy is compared within its own variant: utilities under other options are in other units."""
    return baseline.listed or baseline.system == row.system


def axes_of(variant: Mapping[str, Any], scorer: str | None) -> tuple[tuple[str, str], ...]:
    """The axes of a row of a variant; of a list of rankers the scorer is the ranker. variant: axes, listed."""
    axes = dict(variant["axes"])
    if variant["listed"] and scorer is not None:
        axes["ranker"] = axes["ranker"].replace(variant["listed"], f":{scorer.removesuffix('+neighbour')}")
    return tuple(sorted(axes.items()))


def differing(left: Mapping[str, str], right: Mapping[str, str], metric: str) -> list[str]:
    """The axes in which two rows of a metric differ; what answers is an axis of figures of answers alone.

    Rows made elsewhere do not say how they write, rows of 0.2 not what answers.
    """
    axes = _differing(left, right)
    return axes if metric.partition("@")[0] in OF_ANSWERS else [axis for axis in axes if axis != AXES[-1]]


def _differing(left: Mapping[str, str], right: Mapping[str, str]) -> list[str]:
    return [axis for axis in AXES if axis in left and axis in right and left[axis] != right[axis]]


def _axis(a: Row, b: Row) -> str | None:
    """The single axis in which the rows differ, else None."""
    axes = _differing(dict(a.axes), dict(b.axes))
    return axes[0] if len(axes) == 1 else None


def to_best(
    rows: Sequence[Row], means: Mapping[tuple, float], sizes: Mapping[tuple, int]
) -> list[tuple[Row, Row, str]]:
    """Each row with the one of the highest mean among those that measure the most questions; no control is that one.

    means, sizes: mean and number of questions of each row, by its key.
    """
    most = max(sizes.values(), default=0)
    ranking = [row for row in rows if row.ranks and sizes[row.key] == most]
    best = max(ranking, key=lambda row: means[row.key], default=None)
    return [(row, best, BEST) for row in rows if best and row is not best]


def differences(part: pl.DataFrame, rows: Sequence[Row], choose: Choose, cfg) -> pl.DataFrame:
    """The table `comparisons` of one subset of one data set, without dataset, subset and split.

    p_holm is adjusted over the pairs of the same metric and order. Headlines are
    compared. choose: the pairs of rows of one metric and order, from the rows, their means and their numbers of questions.
    """
    places = {row.key: (n, row) for n, row in enumerate(rows)}
    names = [c for c in TABLES["comparisons"].columns if c not in ("dataset", "subset", "split")]
    schema = {name: TABLES["comparisons"].empty().schema[name] for name in names}
    tables = [pl.DataFrame(schema=schema)]
    base = pl.col("metric").str.split("@").list.first()
    compared = part.filter(base.is_in(headlines(part["metric"].unique())))
    for group in compared.sort("metric").partition_by("metric", "order", "answer_aware", maintain_order=True):
        values = {
            key: figures.sort("question_id")
            for key, figures in group.partition_by("system", "order", "scorer", "answer_aware", as_dict=True).items()
            if key in places
        }
        means = {key: figures["value"].mean() for key, figures in values.items()}
        sizes = {key: figures.height for key, figures in values.items()}
        present = [row for _, row in sorted((places[key] for key in values), key=lambda place: place[0])]
        if group["metric"][0].partition("@")[0] not in OF_ANSWERS:
            present = [replace(row, axes=tuple(axis for axis in row.axes if axis[0] != "answer")) for row in present]
        chosen = [
            (row, base, axis, sample)
            for row, base, axis in choose(present, means, sizes)
            if (sample := common(values[row.key], values[base.key])).height
        ]
        if chosen:
            label = {name: pl.lit(group[name][0], group.schema[name]) for name in ("metric", "order", "answer_aware")}
            named = [(row.system, row.scorer, base.system, base.scorer, axis) for row, base, axis, _ in chosen]
            table = pl.DataFrame(named, schema=dict.fromkeys(_PAIR, pl.String), orient="row").hstack(
                paired_differences([sample for *_, sample in chosen], cfg)
            )
            tables.append(table.with_columns(**label).select(names).cast(schema))
    return pl.concat(tables)


_PAIR = ("system", "scorer", "baseline", "baseline_scorer", "axis")
