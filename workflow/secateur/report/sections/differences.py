"""The report's paired differences: every pair of rows that differ in one axis, and scorers against plain ones."""

import polars as pl

from secateur.evaluation import utility
from secateur.evaluation.comparison import PRIMARY
from secateur.evaluation.figure import figure_of, summaries
from secateur.report.format import SEES, Part, difference, named, pivoted
from secateur.report.table import Column

__all__ = ["MAIN", "paired_parts"]

MAIN = "cat1-4"  # subset of LoCoMo's questions with an answer
NAMES = {  # values of the column `axis` that name a baseline, not an axis
    "language_model": "scorers and the same without a language model, or with query likelihood alone",
    "strongest": "scorers and the strongest plain one",
    "named": "scorers and those of eval.against",
}
LABELS = {"name": "row", "minus": "minus", "order": "order", "subset": "subset"}
NOTE = (
    "Paired by question. Interval and p are of one sign-flip test over resampling units, two-sided; p is adjusted over the "
    "pairs of the same metric and order (Holm)."
)


def paired_parts(dataset: str, comparisons: pl.DataFrame) -> list[Part]:
    """A table an axis, a row a pair, a column a metric; answer-free and answer-aware apart.

    comparisons: rows of a data set, with `enough_data`.
    """
    main = MAIN if MAIN in set(comparisons["subset"]) else "all"
    shown = (pl.col("subset") == main) | pl.col("subset").str.contains(r"^F\d+$")
    metrics = summaries(comparisons["metric"])
    rows = named(comparisons.filter(shown, pl.col("metric").is_in(metrics), pl.col("axis") != PRIMARY))
    rows = rows.sort(pl.col("order") != "blind", "subset", maintain_order=True)
    parts = []
    for axis in rows["axis"].unique(maintain_order=True):
        for aware, sees in SEES.items():
            part = rows.filter(axis=axis, answer_aware=aware)
            if part.is_empty():
                continue
            columns = {metric: Column(_title(metric), signed=True) for metric in metrics}
            columns = {metric: column for metric, column in columns.items() if metric in set(part["metric"])}
            parts.append(
                {
                    "title": f"Paired differences: {NAMES.get(axis, axis)}" + (f", {sees}" if aware else ""),
                    "table": pivoted(part, columns, "metric", labels=LABELS, cell=difference),
                    "note": f"{NOTE} Rows: comparisons.parquet, dataset = {dataset}, axis = {axis}.",
                }
            )
    return parts


def _title(metric: str) -> str:
    base, _, at = metric.partition("@")
    return figure_of(base).title + (f" of {at}" if base == utility.NAME else "")
