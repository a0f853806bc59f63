"""The report's part on selections: F1 of as many passages as a question has gold ones, by subset, and differences."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import cell, difference, dots, form, interval, number, row_name
from secateur.report.sections.recall import note

__all__ = ["selection_differences", "selection_parts"]

METRIC, MAIN = "f1_at_gold", "cat1-4"
SHOWN = 8  # scorers that are drawn
SEES = {False: "answer-free", True: "answer-aware"}
Part = dict[str, Any]


def selection_parts(dataset: str, own: pl.DataFrame, families: Mapping[str, str]) -> list[Part]:
    """The best of the main subset as a plot, and a table of all, answer-free and answer-aware apart."""
    rows = own.filter(pl.col("metric") == METRIC)
    return [
        part
        for aware in SEES
        for part in _parts(dataset, rows.filter(pl.col("answer_aware") == aware), aware, families)
    ]


def _parts(dataset: str, rows: pl.DataFrame, aware: bool, families: Mapping[str, str]) -> list[Part]:
    computed = rows.filter(~pl.col("published"))
    if computed.is_empty():
        return []
    subsets = computed["subset"].unique(maintain_order=True).to_list()
    main = MAIN if MAIN in subsets else subsets[0]
    best = _whole(computed.filter(pl.col("subset") == main)).sort("value", "name", descending=[True, False])
    stated = [subset for subset in rows["subset"].unique(maintain_order=True) if subset not in subsets]
    where = f"dataset = {dataset}, metric = {METRIC}, answer_aware = {str(aware).lower()}"
    title = "answer-aware (the scorer sees the gold answer)" if aware else "answer-free"
    return [
        {
            "title": f"F1 at gold size, {title}, {main}",
        }
        | dots(best, families, f"F1 on {dataset}, {title}", "F1 at gold size", SHOWN)
        | {"open": True},
        {
            "title": f"F1 at gold size by subset, {title}",
            "table": _subset_table(rows, [*subsets, *stated], best),
            "note": note(computed, where),
        },
    ]


def _whole(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that speak of every question of their subset: the costly scorers are computed for some only."""
    return rows.filter(pl.col("n") == pl.col("n").max().over("subset"))


def _subset_table(rows: pl.DataFrame, subsets: Sequence[str], best: pl.DataFrame) -> dict[str, Any]:
    whole = dict(rows.filter(~pl.col("published")).group_by("subset").agg(pl.col("n").max()).iter_rows())
    lines = []
    for name in dict.fromkeys([*best["name"], *rows["name"]]):
        own = rows.filter(pl.col("name") == name)
        by, published = {row["subset"]: row for row in own.iter_rows(named=True)}, own["published"][0]
        cells = [_f1(by[subset], whole) if subset in by else cell("") for subset in subsets]
        label = f"{name} (published)" if published else name
        lines.append({"form": form(own["system"][0], published), "cells": [cell(label), *cells]})
    return {"heads": ["scorer", *subsets], "rows": lines}


def _f1(row: Mapping[str, Any], whole: Mapping[str, int]) -> dict[str, str]:
    """An F1 with its interval, and its n where it speaks of fewer questions than others of the subset."""
    few = f", n {row['n']}" if not row["published"] and row["n"] < whole.get(row["subset"], 0) else ""
    return cell(number(row["value"], 4), interval(row) + few)


def selection_differences(dataset: str, comparisons: pl.DataFrame) -> list[Part]:
    """Scorers with a language model against plain ones, paired by question: what it adds, and what there was to beat."""
    rows = comparisons.filter(pl.col("metric") == METRIC)
    main = MAIN if MAIN in set(rows["subset"]) else "all"
    rows = rows.filter((pl.col("subset") == main) | pl.col("subset").str.contains(r"^F\d+$"))  # the table has all
    parts = []
    for aware, title in SEES.items():
        part = rows.filter(pl.col("answer_aware") == aware)
        part = part.sort("subset", "axis", "baseline_scorer", "difference", descending=[False, False, False, True])
        if part.height:
            heads = ["scorer", "subset", "less", "differs in", "difference"]
            parts.append(
                {
                    "title": f"F1 at gold size, {title}: differences, paired",
                    "table": {"heads": heads, "rows": [_line(row) for row in part.iter_rows(named=True)]},
                    "note": f"comparisons.parquet, dataset = {dataset}. p: sign flips over resampling units, two-sided, "
                    "adjusted over the pairs of a subset (Holm). language_model: the same join of scorers without one; "
                    "strongest, named: the best plain scorer here, and those of eval.against.",
                }
            )
    return parts


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    names = [row_name(row["system"], row["scorer"]), row["subset"]]
    names += [row_name(row["baseline"], row["baseline_scorer"]), row["axis"]]
    return {"form": "", "cells": [*map(cell, names), difference(row, 4)]}
