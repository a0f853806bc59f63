"""Means with intervals, and matched differences: two rows that differ in one named axis, paired by question.

A row is a system (with its scorer, where it has several) in one order. Its axes say who ranks, who reranks, in what form,
packing and placement, for which reader. Orders are never paired across.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.resampling import bootstrap, holm, paired, units

__all__ = ["AXES", "OF_POLICY", "Row", "axes_of", "claims", "differences", "pairs", "summarise"]

OF_POLICY = pl.col("metric").str.starts_with("policy_")  # rows of what a policy chose, or of what it has to beat
AXES = ("ranker", "reranker", "form", "packing", "placement", "reader", "memory")
# What stages of their own measure; of the metrics of contexts the headlines are compared too.
COMPARED = (
    "passage_recall",
    "all_gold",
    "answer_gain",
    "answer_gain_own",
    "f1_at_gold",
    "policy_utility",
    "rouge_l",
    "token_f1",
    "read_gain",
    "judged_acc",
)
ROW = ["system", "order", "scorer", "answer_aware", "metric"]
MODEL, STRONGEST, NAMED = "language_model", "strongest", "named"  # what else a pair may be about


@dataclass(frozen=True)
class Row:
    """A row of figures and its axes. listed: one scorer of a list of rankers, a baseline."""

    system: str
    order: str | None
    scorer: str | None
    answer_aware: bool
    axes: tuple[tuple[str, str], ...]
    listed: bool

    @property
    def key(self) -> tuple:
        """What names it among the rows of a metric."""
        return (self.system, self.order, self.scorer, self.answer_aware)


def claims(figures: pl.DataFrame, budgets: Sequence[int], gained: Sequence[int]) -> pl.DataFrame:
    """Rows METRIC@claim: each question's mean of METRIC over the budgets, of answer gain over those at which it is
    measured; none where one of them is missing."""
    gain = pl.col("metric").str.starts_with("answer_gain@")
    return pl.concat([_claims(figures.filter(~gain), budgets), _claims(figures.filter(gain), gained)])


def _claims(figures: pl.DataFrame, budgets: Sequence[int]) -> pl.DataFrame:
    parts = figures.with_columns(
        pl.col("metric").str.split_exact("@", 1).struct.rename_fields(["base", "at"]).alias("m")
    )
    at = parts.unnest("m").filter(pl.col("at").is_in([str(b) for b in budgets]))
    row = [c for c in figures.columns if c not in ("metric", "value")]
    means = at.group_by(*row, "base", maintain_order=True).agg(pl.col("value").mean(), count=pl.len())
    whole = means.filter(pl.col("count") == len(budgets)).with_columns(metric=pl.col("base") + "@claim")
    return whole.select(figures.columns)


def _wide(part: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, np.ndarray]]:
    """Rows that share the same questions at once: (row names, questions, values (q, rows))."""
    keyed = part.with_columns(row=pl.concat_str([pl.col(c).cast(pl.String).fill_null("") for c in ROW], separator="\n"))
    sets = keyed.group_by("row").agg(same=pl.col("question_id").sort().str.join("\n"))
    for (_,), group in sets.sort("row").group_by("same", maintain_order=True):
        mine = keyed.join(group.select("row"), on="row").sort("row", "question_id")
        names = mine.select("row", *ROW).unique("row", maintain_order=True)
        questions = (
            mine.select("question_id", "cluster_id").unique("question_id", maintain_order=True).sort("question_id")
        )
        yield names, questions, mine["value"].to_numpy().reshape(names.height, questions.height).T


def summarise(part: pl.DataFrame, cfg) -> pl.DataFrame:
    """value, low, high, n, units of every row (system, order, scorer, metric) of one subset."""
    found = []
    for names, questions, values in _wide(part):
        unit = units(questions["cluster_id"].to_list(), cfg.min_clusters)
        low, high = bootstrap(values, unit, cfg.resamples, cfg.confidence, cfg.seed)
        if questions.height < 2:
            low = high = [None] * values.shape[1]
        columns = {"value": values.mean(0), "low": low, "high": high}
        counts = {"n": pl.lit(questions.height, pl.Int32), "units": pl.lit(len(np.unique(unit)), pl.Int32)}
        series = {k: pl.Series(v, dtype=pl.Float64) for k, v in columns.items()}
        found.append(names.drop("row").with_columns(**counts, **series))
    return pl.concat(found) if found else pl.DataFrame(schema=_SUMMARY)


_NAMES = {"system": pl.String, "order": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String}
_SUMMARY = _NAMES | {"n": pl.Int32, "units": pl.Int32, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}


# --- which rows are compared -------------------------------------------------------------------------


def pairs(
    rows: Sequence[Row], means: Mapping[tuple, float], against: Sequence[str], twins: Mapping[str, str]
) -> list[tuple[Row, Row, str]]:
    """(row, baseline, what they differ in) for rows of one metric, order and answer-awareness.

    Two systems that differ in one axis; a system and a listed ranker that differ in one; a system that has several
    scorers against the strongest listed one and those named, each scorer against its twin without a language model.
    means: of each row, by its key. The baseline is the row that was listed, else the one that comes first.
    """
    systems, listed = [row for row in rows if not row.listed], [row for row in rows if row.listed]
    own = {row.axes for row in systems if row.scorer is None}
    listed = [row for row in listed if row.axes not in own]  # the same contexts under another name
    single = [row for row in systems if row.scorer is None]
    found = [(b, a, axis) for a, b in combinations(single, 2) if (axis := _axis(a, b))]
    found += [(row, base, axis) for row in single for base in listed if (axis := _axis(base, row))]
    several = [row for row in systems if row.scorer is not None]
    by_name = {row.scorer: row for row in several}
    best = max(listed, key=lambda row: (means[row.key], row.scorer), default=None)
    for row in several:
        twin = by_name.get(twins.get(row.scorer, ""))
        found += [(row, twin, MODEL)] if twin else []
        found += [(row, best, STRONGEST)] if best else []
    named = [row for row in rows if row.scorer and row.scorer.removesuffix("+answer") in against]
    found += [(r, b, NAMED) for r in several for b in named if r is not b and b is not best and _same_policy(r, b)]
    return found


def _same_policy(row: Row, baseline: Row) -> bool:
    """A policy is compared within its own variant: utilities under other options are in other units."""
    return baseline.listed or baseline.system == row.system


def axes_of(variant: Mapping[str, Any], scorer: str | None) -> tuple[tuple[str, str], ...]:
    """The axes of a row of a variant; of a list of rankers the scorer is who ranks. variant: axes, listed."""
    axes = dict(variant["axes"])
    if variant["listed"] and scorer is not None:
        axes["ranker"] = axes["ranker"].replace(variant["listed"], f":{scorer.removesuffix('+neighbour')}")
    return tuple(sorted(axes.items()))


def _axis(a: Row, b: Row) -> str | None:
    """The one axis in which two rows differ; None where it is none, or more than one."""
    left, right = dict(a.axes), dict(b.axes)
    differing = [axis for axis in AXES if left.get(axis) != right.get(axis)]
    return differing[0] if len(differing) == 1 else None


# --- their differences ---------------------------------------------------------------------------------


def differences(
    part: pl.DataFrame,
    rows: Sequence[Row],
    shown: Sequence[str],
    against: Sequence[str],
    twins: Mapping[str, str],
    cfg,
) -> pl.DataFrame:
    """The table `comparisons` of one subset of one data set, without its names: every pair in every metric compared.
    shown: the metrics of contexts that are.

    p and interval are of one sign-flip test over whole resampling units, so that they agree; p_holm is adjusted over
    the pairs of the same metric and order. An end of an interval is null where too few units bound nothing.
    """
    known = {row.key: row for row in rows}
    found = []
    compared = part.filter(pl.col("metric").str.split("@").list.first().is_in([*shown, *COMPARED]))
    groups = compared.sort("metric").partition_by("metric", "order", "answer_aware", maintain_order=True)
    for group in groups:
        series = {
            key: own.sort("question_id")
            for key, own in group.partition_by("system", "order", "scorer", "answer_aware", as_dict=True).items()
            if key in known
        }
        means = {key: own["value"].mean() for key, own in series.items()}
        here = [known[key] for key in sorted(series, key=lambda key: list(known).index(key))]
        made = _paired(series, pairs(here, means, against, twins), cfg)
        if made.height:
            label = {name: pl.lit(group[name][0], group.schema[name]) for name in ("metric", "order", "answer_aware")}
            found.append(made.with_columns(**label, p_holm=pl.Series(_adjusted(made))))
    columns = [c for c in TABLES["comparisons"].columns if c not in ("dataset", "subset", "split")]
    schema = {c: TABLES["comparisons"].empty().schema[c] for c in columns}
    return pl.concat([pl.DataFrame(schema=schema), *(one.select(columns).cast(schema) for one in found)])


def _paired(series: Mapping[tuple, pl.DataFrame], found: Sequence[tuple[Row, Row, str]], cfg) -> pl.DataFrame:
    """A row for each pair that has questions in common."""
    tested: dict[tuple[str, ...], list] = {}
    for row, base, axis in found:
        joined = series[row.key].join(
            series[base.key].select("question_id", base="value"), on="question_id", maintain_order="left"
        )
        if joined.height:
            tested.setdefault(tuple(joined["question_id"]), []).append((row, base, axis, joined))
    made = []
    for same in tested.values():
        values = np.stack([(one["value"] - one["base"]).to_numpy() for *_, one in same], axis=1)
        unit = units(same[0][3]["cluster_id"].to_list(), cfg.min_clusters)
        test = paired(values, unit, cfg.permutations, cfg.confidence, cfg.seed)
        for n, (row, base, axis, _) in enumerate(same):
            ends = [float(end[n]) if np.isfinite(end[n]) else None for end in (test.low, test.high)]
            made.append(
                (*_names(row, base, axis), float(test.mean[n]), *ends, float(test.p[n]), len(values), test.units)
            )
    return pl.DataFrame(made, schema=_MADE, orient="row")


def _adjusted(made: pl.DataFrame) -> np.ndarray:
    """Holm's p over the pairs that differ in any question: where none does, as where only the place of a text changed,
    there is nothing to test."""
    same = made.select(pl.all_horizontal((pl.col("difference", "low", "high") == 0).fill_null(value=False))).to_series()
    return np.nan_to_num(holm(np.where(same.to_numpy(), np.nan, made["p"].to_numpy())), nan=1.0)


def _names(row: Row, base: Row, axis: str) -> tuple:
    return row.system, row.scorer, base.system, base.scorer, axis


_MADE = dict.fromkeys(("system", "scorer", "baseline", "baseline_scorer", "axis"), pl.String) | {
    "difference": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p": pl.Float64,
    "n": pl.Int32,
    "units": pl.Int32,
}
