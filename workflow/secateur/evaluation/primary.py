"""The primary family: the tests that an experiment declares before a run, adjusted by Holm among themselves alone."""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import PRIMARY, common, paired_differences

__all__ = ["primary_family"]

SIDES = ("row", "minus")  # of a test
COLUMNS = ("system", "scorer", "baseline", "baseline_scorer")  # of `comparisons`, for both sides
GROUP = ("order", "answer_aware")


def primary_family(
    parts: Mapping[str, tuple[pl.DataFrame, str, str]], tests: Sequence[Mapping[str, str]], cfg
) -> tuple[pl.DataFrame, list[str]]:
    """(rows of `comparisons`, the tests without figures). Holm's correction covers all tests on all data sets.

    parts: data set -> its figures on the main subset, the subset and the split; tests: row, minus and metric, each tested on
    every data set and in every order that both rows have.
    """
    labels, samples, missing = [], [], []
    for dataset, (figures, subset, split) in parts.items():
        place = {"dataset": dataset, "subset": subset, "split": split, "axis": PRIMARY}
        for test in tests:
            row, minus = (_figures(figures, test[side], test["metric"]) for side in SIDES)
            before = len(samples)
            for group in row.partition_by(*GROUP, maintain_order=True):
                same = {column: group[column][0] for column in GROUP}
                equal = (pl.col(name).eq_missing(pl.lit(value)) for name, value in same.items())
                sample = common(group, minus.filter(*equal))
                if sample.height:
                    names = [part for side in SIDES for part in _parts(test[side])]
                    labels.append(place | same | dict(zip(COLUMNS, names, strict=True)) | {"metric": test["metric"]})
                    samples.append(sample)
            if len(samples) == before:
                missing.append(f"{test['row']} minus {test['minus']}, {test['metric']} on {dataset}")
    paired = paired_differences(samples, cfg).to_dicts()
    rows = [
        {name: value for name, value in (label | pair).items() if name in TABLES["comparisons"].columns}
        for label, pair in zip(labels, paired, strict=True)
    ]
    return TABLES["comparisons"].frame(rows), missing


def _parts(name: str) -> tuple[str, str | None]:
    """System and scorer of a row."""
    system, _, scorer = name.partition("/")
    return system, scorer or None


def _figures(figures: pl.DataFrame, name: str, metric: str) -> pl.DataFrame:
    """Figures of one row, by order and answer-awareness."""
    system, scorer = _parts(name)
    row = figures.filter(pl.col("scorer").eq_missing(pl.lit(scorer, pl.String)), system=system, metric=metric)
    return row.sort(*GROUP, nulls_last=True)
