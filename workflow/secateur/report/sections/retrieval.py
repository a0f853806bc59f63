"""The report's part on rankings of articles: how many of the gold ones stand among the first, by hop."""

from typing import Any

import polars as pl

from secateur.report.format import note, pivoted
from secateur.report.table import Column

__all__ = ["retrieval_parts"]

PLACES = ("passage_recall", "all_gold", "reciprocal_rank", "ndcg", "average_precision")
ABOUT = (
    " passage_recall@k: share of the gold articles among the first k of the ranking, an article standing where its best "
    "passage stands; all_gold@k: whether all of them do. By hop: of those that are found at this step. nDCG counts the grade of "
    "the evidence, 1 where none is given."
)


def retrieval_parts(dataset: str, own: pl.DataFrame, order: str) -> list[dict[str, Any]]:
    """One table of one order; none where nothing was measured. own: rows of `metrics` of a data set, with `name`."""
    measured = pl.col("metric").str.contains(
        r"^((passage_recall|all_gold|ndcg)@\d+|reciprocal_rank|average_precision)$"
    )
    measured &= ~pl.col("published")
    rows = own.filter((pl.col("order") == order) & measured)
    if rows.is_empty():
        return []
    keys = sorted(set(rows.select("subset", "metric").iter_rows()), key=_place)
    columns = {key: Column(key[1] if key[0] == "all" else ": ".join(key), best="higher") for key in keys}
    return [
        {
            "title": f"Order-{order}: gold articles among the first",
            "table": pivoted(rows.sort("system", "scorer", nulls_last=True), columns, "subset", "metric"),
            "note": note(rows, f"dataset = {dataset}, order = {order}, metric = passage_recall@k") + ABOUT,
        }
    ]


def _place(column: tuple[str, str]) -> tuple:
    """All evidence first, then by hop; recall before all gold; by cutoff."""
    subset, metric = column
    base, _, k = metric.partition("@")
    return subset != "all", subset, PLACES.index(base), int(k or 0)
