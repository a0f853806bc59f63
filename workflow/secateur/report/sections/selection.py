"""The report's part on selections: F1 of as many passages as a question has gold ones, by subset, and differences."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from secateur.report.format import difference, dots, figure, form, note, row_name
from secateur.report.table import Column, Row, Table

__all__ = ["selection_differences", "selection_parts"]

METRIC, MAIN = "f1_at_gold", "cat1-4"
SHOWN = 8  # scorers that are drawn
PAIRED = [Column("scorer"), *(Column(head, align="left") for head in ("subset", "minus", "differs in"))]
PAIRED += [Column("difference", signed=True)]
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


def _subset_table(rows: pl.DataFrame, subsets: Sequence[str], best: pl.DataFrame) -> Table:
    """One row a scorer, the best first, one column a subset; an F1 of fewer questions than others says its n."""
    whole = dict(rows.filter(~pl.col("published")).group_by("subset").agg(pl.col("n").max()).iter_rows())
    lines = []
    for name in dict.fromkeys([*best["name"], *rows["name"]]):
        own = rows.filter(pl.col("name") == name)
        by, published = {row["subset"]: row for row in own.iter_rows(named=True)}, own["published"][0]
        few = {s: (f"n {row['n']}",) for s, row in by.items() if not published and row["n"] < whole.get(s, 0)}
        label = f"{name} (published)" if published else name
        cells = (figure(by.get(subset), *few.get(subset, ())) for subset in subsets)
        lines.append(Row((label, *cells), form(own["system"][0], published)))
    return Table([Column("scorer"), *(Column(subset, best="higher") for subset in subsets)], lines)


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
            parts.append(
                {
                    "title": f"F1 at gold size, {title}: paired differences",
                    "table": Table(PAIRED, [_row(row) for row in part.iter_rows(named=True)]),
                    "note": f"comparisons.parquet, dataset = {dataset}. p: sign flips over resampling units, two-sided, "
                    "adjusted over the pairs of a subset (Holm). language_model: the same join of scorers without one; "
                    "strongest, named: the best plain scorer here, and those of eval.against.",
                }
            )
    return parts


def _row(row: Mapping[str, Any]) -> Row:
    names = (row_name(row["system"], row["scorer"]), row["subset"])
    return Row((*names, row_name(row["baseline"], row["baseline_scorer"]), row["axis"], difference(row)))
