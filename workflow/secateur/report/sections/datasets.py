"""Parts of the report that speak of a data set: its sizes beside what is published of them, and figures at cutoffs."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from secateur.report.format import number, pivoted
from secateur.report.table import Column, Row, Table

__all__ = ["cutoff_parts", "statistics_part"]

LABELS = {  # statistic: (how it is called, digits)
    "passages_per_group": ("passages in a group", 1),
    "sessions_per_group": ("sessions in a group", 1),
    "candidates_per_question": ("candidates of a question", 1),
    "tokens_per_passage": ("word pieces of a passage", 1),
    "tokens_per_session": ("word pieces of a session", 1),
    "evidence_per_question": ("evidence passages of a question", 2),
    "evidence_sessions_per_question": ("evidence sessions of a question", 2),
    "one_evidence": ("questions with one evidence passage, share", 2),
    "questions": ("questions of a type, share", 2),
    "answer_tokens": ("word pieces of an answer", 1),
}
LEVELS = {"": "Recall and gain among the first k passages", "session_": "Recall and gain among the first k sessions"}
FIGURES = ("recall_any", "recall_all", "ndcg_any")
SHARES = ("one_evidence", "questions")  # of 0 and 1: least, median and most say nothing


def statistics_part(name: str, statistics: pl.DataFrame, stated: pl.DataFrame) -> list[dict[str, Any]]:
    """The sizes of one data set.

    statistics: dataset and the columns of dataset_statistics; stated: dataset, statistic, stated, source.
    """
    own = statistics.filter(pl.col("dataset") == name)
    if not own.height:
        return []
    published = {r["statistic"]: r for r in stated.filter(pl.col("dataset") == name).iter_rows(named=True)}
    place = {statistic: n for n, statistic in enumerate(LABELS)}
    ordered = own.sort(pl.col("statistic").replace_strict(place), pl.col("of") != "all", "of").to_dicts()
    rows = [_row(row, published.get(row["statistic"]) if row["of"] == "all" else None) for row in ordered]
    sources = sorted({row["source"] for row in published.values()})
    said = f" Published figures stand as printed in {', '.join(sources)}." if sources else ""
    columns = [Column(head) for head in ("statistic", "n", "mean", "median", "least to most", "published")]
    return [
        {
            "title": "The data",
            "table": Table(columns, rows),
            "note": "n: groups, passages, sessions, questions or answers; evidence: questions whose gold resolves. "
            f"Only passages are counted, in MiniLM's word pieces.{said} "
            f"Rows: dataset_statistics.parquet, dataset = {name}.",
        }
    ]


def _row(row: Mapping[str, Any], published: Mapping[str, str] | None) -> Row:
    label, digits = LABELS[row["statistic"]]
    share = row["statistic"] in SHARES
    spread = (None, None) if share else (_figure(row["median"]), f"{_figure(row['least'])} to {_figure(row['most'])}")
    name = label if row["of"] == "all" else f"{label}: {row['of']}"
    return Row((name, row["n"], number(row["mean"], digits), *spread, published["stated"] if published else None))


def _figure(value: float) -> str:
    """A count, or the half between two."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def cutoff_parts(name: str, own: pl.DataFrame) -> list[dict[str, Any]]:
    """Recall and gain at cutoffs over all questions, of passages and of sessions, answer-free and answer-aware apart.

    own: rows of `metrics` with `name`, of one data set.
    """
    rows = own.filter(pl.col("subset") == "all")
    parts = []
    for aware, seen in ((False, "answer-free"), (True, "answer-aware (the scorer sees the gold answer)")):
        for level, title in LEVELS.items():
            kind = pl.col("metric").str.contains(rf"^{level}({'|'.join(FIGURES)})@\d+$")
            part = rows.filter(kind & (pl.col("answer_aware") == aware))
            if part.height:
                n = ", ".join(map(str, part["n"].unique().sort()))
                parts.append(
                    {
                        "title": f"{title}, {seen}",
                        "table": _cutoff_table(part, level),
                        "note": f"n = {n} questions with a target, split {part['split'][0]}, 95 % intervals. "
                        f"LongMemEval's official figures. Rows: dataset = {name}, metric = {level}recall_any@k and the "
                        f"like, answer_aware = {str(aware).lower()}.",
                    }
                )
    return parts


def _cutoff_table(part: pl.DataFrame, level: str) -> Table:
    """One row a scorer, best first by its mean, one column a figure and cutoff."""
    present = set(part["metric"])
    cutoffs = sorted({int(metric.partition("@")[2]) for metric in present})
    metrics = [metric for f in FIGURES for k in cutoffs if (metric := f"{level}{f}@{k}") in present]
    best = part.with_columns(mean=pl.col("value").mean().over("name"))
    ordered = best.sort("mean", "name", descending=[True, False], maintain_order=True)
    columns = {metric: Column(metric.removeprefix(level), best="higher") for metric in metrics}
    return pivoted(ordered.drop("system", strict=False), columns, "metric", head="scorer")
