"""The primary family: the tests that an experiment declares before a run, adjusted by Holm among themselves alone."""

from collections.abc import Mapping, Sequence

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import PRIMARY, common, paired_differences

__all__ = ["primary_family"]

SIDES = {"row": "system", "minus": "baseline"}  # of a test, and the column of `comparisons`


def primary_family(
    parts: Mapping[str, tuple[pl.DataFrame, str, str]], tests: Sequence[Mapping[str, str]], cfg
) -> tuple[pl.DataFrame, list[str]]:
    """(rows of `comparisons`, the tests without figures). Holm's correction covers all tests on all data sets.

    parts: data set -> its figures on the main subset, the subset and the split; tests: row, minus and metric, each tested on
    every data set and in every order that both rows have.
    """
    labels, samples, missing = [], [], []
    for dataset, (figures, subset, split) in parts.items():
        place = {"dataset": dataset, "subset": subset, "split": split, "answer_aware": False, "axis": PRIMARY}
        for test in tests:
            measured = figures.filter(pl.col("scorer").is_null(), metric=test["metric"])
            row, minus = (measured.filter(system=test[side]) for side in SIDES)
            before = len(samples)
            for order in row["order"].unique().sort():
                same = pl.col("order").eq_missing(pl.lit(order))
                sample = common(row.filter(same), minus.filter(same))
                if sample.height:
                    sides = {column: test[side] for side, column in SIDES.items()}
                    labels.append(place | sides | {"order": order, "metric": test["metric"]})
                    samples.append(sample)
            if len(samples) == before:
                missing.append(f"{test['row']} minus {test['minus']}, {test['metric']} on {dataset}")
    paired = paired_differences(samples, cfg).to_dicts()
    rows = [
        {name: value for name, value in (own | pair).items() if name in TABLES["comparisons"].columns}
        for own, pair in zip(labels, paired, strict=True)
    ]
    return TABLES["comparisons"].frame(rows), missing
