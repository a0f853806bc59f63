"""The report's part on selections: F1 of as many passages as a question has gold ones (R-precision), by subset."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from secateur.report.format import SEES, Part, dots, note, of_fewer, pivoted
from secateur.report.sections.differences import MAIN
from secateur.report.table import Column, Table

__all__ = ["selection_parts"]

METRIC = "f1_at_gold"
SHOWN = 8  # scorers of the plot
NAMES = " pmi_q: query likelihood; pool_random: chance in the pool; @other_sets: weights of other data sets."


def selection_parts(dataset: str, rows: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Part]:
    """The best scorers as a plot and a table of all, answer-free and answer-aware apart.

    rows: of `metrics`, of a data set, with `name` and `enough_data`.
    """
    for aware, sees in SEES.items():
        part = rows.filter(metric=METRIC, answer_aware=aware)
        computed = part.filter(~pl.col("published"))
        if computed.is_empty():
            continue
        subsets = computed["subset"].unique(maintain_order=True).to_list()
        main = MAIN if MAIN in subsets else subsets[0]
        # The costly scorers are computed for some questions only.
        best = computed.filter(~of_fewer("subset"), subset=main)
        left = sorted(set(computed.filter(subset=main)["name"]) - set(best["name"]))
        best = best.sort("value", "name", descending=[True, False])
        yield {
            "title": f"F1 at gold size, {sees}, {main}",
            **dots(best, families, f"F1 on {dataset}, {sees}", "F1 at gold size", SHOWN),
            "open": True,
            "note": f"Not drawn, of fewer questions: {', '.join(left)}." if left else "",
        }
        yield {
            "title": f"F1 at gold size by subset, {sees}",
            "table": _table(part, list(dict.fromkeys([*subsets, *part["subset"]])), best["name"].to_list()),
            "note": note(computed, dataset=dataset, metric=METRIC, answer_aware=aware) + NAMES,
        }


def _table(rows: pl.DataFrame, subsets: Sequence[str], best: Sequence[str]) -> Table:
    """A row a scorer, the best first, a column a subset."""
    place = {name: n for n, name in enumerate(dict.fromkeys([*best, *rows["name"]]))}
    ordered = rows.sort(pl.col("name").replace_strict(place), maintain_order=True)
    label = pl.when("published").then(pl.col("name") + " (published)").otherwise(pl.col("name"))
    columns = {subset: Column(subset, best="higher") for subset in subsets}
    return pivoted(ordered.with_columns(name=label), columns, "subset", labels={"name": "scorer"})
