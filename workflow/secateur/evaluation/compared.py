"""The tables of an experiment from its figures by question: means, paired differences, leaders, the primary family.

The stage compare_variants makes them from results, `secateur verify` from kept values, by the same functions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import (
    OF_POLICY,
    Choose,
    Row,
    axes_of,
    claims,
    differences,
    pairs,
    summarise,
    to_best,
)
from secateur.evaluation.primary import primary_family
from secateur.evaluation.rankings import POOL_RANDOM
from secateur.evaluation.subsets import MAIN, Units, members, of_split, units_of
from secateur.evaluation.utility import utilities

__all__ = ["Measured", "comparisons", "labelled", "leaders", "means", "measured"]

Labels = dict[str, pl.Expr]


@dataclass(frozen=True)
class Measured:
    """What an experiment measured on one data set.

    figures: the columns of `question_metrics`, and system; rows: in the order of the experiment's systems; subsets: name ->
    ids of questions, `all` first.
    """

    name: str
    split: str
    figures: pl.DataFrame
    rows: Sequence[Row]
    subsets: Mapping[str, Collection[str]]
    units: Units

    def parts(self) -> Iterator[tuple[str, pl.DataFrame, Labels]]:
        """(subset, its figures by unit, the columns that say so), then the same of the evidence of each hop."""
        whole = self.figures.filter(pl.col("hop").is_null())
        by_subset = {name: whole.filter(pl.col("question_id").is_in(list(ids))) for name, ids in self.subsets.items()}
        hops = self.figures["hop"].drop_nulls().unique().sort()
        for subset, part in (by_subset | {hop: self.figures.filter(hop=hop) for hop in hops}).items():
            # A policy is measured on test, whatever the data set reports for the rest.
            split = pl.when(OF_POLICY).then(pl.lit("test")).otherwise(pl.lit(self.split))
            labels = {"dataset": pl.lit(self.name), "subset": pl.lit(subset), "split": split}
            yield subset, self.units.of(part.drop("hop")), labels


def labelled(
    variants: Iterable[Mapping[str, Any]], tables: Mapping[str, pl.DataFrame], prices: Sequence[float], cfg
) -> pl.DataFrame:
    """The figures of all variants with their data set and system, utilities at prices, and means over the claimed budgets.

    tables: file -> `question_metrics`; cfg: claim and gain_budgets of the group eval.
    """
    frames = []
    for v in variants:
        labels = {"dataset": pl.lit(v["dataset"]), "system": pl.lit(v["system"])}
        rows = tables[v["file"]]
        frames += [table.with_columns(**labels) for table in (rows, utilities(rows, v["budget"], prices))]
    figures = pl.concat(frames)
    return pl.concat([figures, claims(figures, cfg.claim, cfg.gain_budgets)])


def measured(
    spec: Mapping[str, Any],
    variants: Sequence[Mapping[str, Any]],
    figures: pl.DataFrame,
    questions: pl.DataFrame,
    evidence: pl.DataFrame,
    cfg,
) -> Measured:
    """What was measured on one data set. spec: name, split, types and first; figures: `labelled`; cfg: the group eval."""
    name, split = spec["name"], of_split(questions, spec["split"])
    units = units_of(split, evidence, max(cfg.min_clusters, cfg.min_units))
    figures = figures.filter(dataset=name).drop("dataset")
    return Measured(name, spec["split"], figures, _rows(variants, figures, name), members(split, evidence, spec), units)


def _rows(variants: Sequence[Mapping[str, Any]], figures: pl.DataFrame, dataset: str) -> list[Row]:
    """The rows of a data set with their axes, in the order of the experiment's systems."""
    of_set = {(v["system"], v["order"]): v for v in variants if v["dataset"] == dataset}
    rows = []
    keys = figures.select("system", "order", "scorer", "answer_aware").unique().sort("system", "order", "scorer")
    for system, order, scorer, aware in keys.iter_rows():
        variant = of_set.get((system, order)) or of_set[system, None]
        ranks = variant["ranks"] and scorer not in POOL_RANDOM
        rows.append(Row(system, order, scorer, aware, axes_of(variant, scorer), bool(variant["listed"]), ranks))
    places = {v["system"]: n for n, v in enumerate(variants)}
    return sorted(rows, key=lambda row: places[row.system])


# --- the tables -----------------------------------------------------------------------------------


def means(sets: Iterable[Measured]) -> pl.DataFrame:
    """The table `metrics` without published figures."""
    frames = [summarise(part).with_columns(**labels) for dataset in sets for _, part, labels in dataset.parts()]
    return pl.concat(frames).with_columns(published=pl.lit(False)).select(list(TABLES["metrics"].columns))


def comparisons(
    sets: Sequence[Measured],
    matched_baselines: Mapping[str, Sequence[str]],
    tests: Sequence[Mapping[str, str]],
    cfg,
    subsets: Collection[str] | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """The table `comparisons`, and the tests of the primary family without figures.

    tests: of the primary family; cfg: the group eval; subsets: those whose pairs are compared, all by default.
    """

    def choose(rows, values, _):
        return pairs(rows, values, cfg.against, matched_baselines)

    compared = _differences(sets, choose, cfg, subsets)
    main = {
        dataset.name: (part, subset, dataset.split)
        for dataset in sets
        for subset, part, _ in dataset.parts()
        if subset in MAIN
    }  # `all` comes first, and another main subset in its place
    family, missing = primary_family(main, tests, cfg)
    return pl.concat([compared, family.select(compared.columns)]), missing


def leaders(sets: Sequence[Measured], cfg) -> pl.DataFrame:
    """The table `leaders`."""
    return _differences(sets, to_best, cfg, MAIN)


def _differences(sets: Sequence[Measured], choose: Choose, cfg, subsets: Collection[str] | None) -> pl.DataFrame:
    frames = [
        differences(part, dataset.rows, choose, cfg).with_columns(**labels)
        for dataset in sets
        for subset, part, labels in dataset.parts()
        if subsets is None or subset in subsets
    ]
    columns = list(TABLES["comparisons"].columns)
    return pl.concat(frames).select(columns) if frames else TABLES["comparisons"].empty()
