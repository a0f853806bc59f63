"""The report's parts on rankings: gold articles among the first k by hop, and LongMemEval's figures at cutoffs."""

from collections.abc import Iterator

import polars as pl

from secateur.report.format import SEES, Part, aware_named, note, pivoted
from secateur.report.table import Column

__all__ = ["cutoff_parts", "retrieval_parts"]

PLACES = ("passage_recall", "all_gold", "reciprocal_rank", "ndcg", "average_precision")
LEVELS = {"": "Recall and gain among the first k passages", "session_": "Recall and gain among the first k sessions"}
FIGURES = ("recall_any", "recall_all", "ndcg_any")
ABOUT = (
    " passage_recall@k: share of the gold articles among the first k of the ranking. An article stands where its best passage "
    "stands; in a group of one document each passage is an article. all_gold@k: whether all of them stand there. By hop: of "
    "the articles needed at this step. nDCG counts the grade of the evidence, 1 where none is given."
)


def retrieval_parts(dataset: str, rows: pl.DataFrame, order: str) -> list[Part]:
    """One table of one order; none where nothing was measured. rows: of `metrics`, of a data set, with `name`."""
    measured = pl.col("metric").str.contains(
        r"^((passage_recall|all_gold|ndcg)@\d+|reciprocal_rank|average_precision)$"
    )
    rows = aware_named(rows.filter(measured, ~pl.col("published"), order=order)).sort(
        "system", "scorer", nulls_last=True
    )
    if rows.is_empty():
        return []
    keys = sorted(set(rows.select("subset", "metric").iter_rows()), key=_place)
    columns = {key: Column(key[1] if key[0] == "all" else ": ".join(key), best="higher") for key in keys}
    return [
        {
            "title": f"Order-{order}: gold articles among the first",
            "table": pivoted(rows, columns, "subset", "metric"),
            "note": note(rows, dataset=dataset, order=order, metric="passage_recall@k") + ABOUT,
        }
    ]


def _place(column: tuple[str, str]) -> tuple:
    """All evidence first, then by hop; recall before all gold; by cutoff."""
    subset, metric = column
    base, _, k = metric.partition("@")
    return subset != "all", subset, PLACES.index(base), int(k or 0)


def cutoff_parts(dataset: str, rows: pl.DataFrame) -> Iterator[Part]:
    """A table a level (passages, sessions), answer-free and answer-aware apart; a row a scorer, the best mean first.

    rows: of `metrics`, of a data set, with `name`.
    """
    for aware, sees in SEES.items():
        for level, title in LEVELS.items():
            at_cutoffs = pl.col("metric").str.contains(rf"^{level}({'|'.join(FIGURES)})@\d+$")
            part = rows.filter(at_cutoffs, subset="all", answer_aware=aware)
            if part.is_empty():
                continue
            present = set(part["metric"])
            cutoffs = sorted({int(metric.partition("@")[2]) for metric in present})
            metrics = [metric for f in FIGURES for k in cutoffs if (metric := f"{level}{f}@{k}") in present]
            columns = {metric: Column(metric.removeprefix(level), best="higher") for metric in metrics}
            means = part.with_columns(mean=pl.col("value").mean().over("name"))
            ordered = means.sort("mean", "name", descending=[True, False], maintain_order=True)
            where = {"dataset": dataset, "metric": f"{level}recall_any@k and the like", "answer_aware": aware}
            yield {
                "title": f"{title}, {sees}",
                "table": pivoted(ordered.drop("system", strict=False), columns, "metric", labels={"name": "scorer"}),
                "note": f"{note(part, **where)} LongMemEval's official figures, of questions with a target.",
            }
