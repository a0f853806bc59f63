"""The report's part on a data set: its sizes beside what is published of them."""

import polars as pl

from secateur.report.format import Part
from secateur.report.table import Column, Row, Table

__all__ = ["statistics_part"]

LABELS = {
    "passages_per_group": "passages in a group",
    "sessions_per_group": "sessions in a group",
    "candidates_per_question": "candidates of a question",
    "tokens_per_passage": "word pieces of a passage",
    "tokens_per_session": "word pieces of a session",
    "evidence_per_question": "evidence passages of a question",
    "evidence_sessions_per_question": "evidence sessions of a question",
    "one_evidence": "questions with one evidence passage, share",
    "questions": "questions of a type, share",
    "answer_tokens": "word pieces of an answer",
}
OF_SOME = {
    "letters_outside_latin": "letters of a passage outside Latin, share"
}  # has no row for texts in Latin letters
SHARES = ("one_evidence", "questions", "letters_outside_latin")  # of 0 and 1, mostly: median and range say nothing
COLUMNS = [
    Column("statistic"),
    Column("n"),
    Column("mean", 2),
    Column("median", 1),
    Column("range"),
    Column("published"),
]


def statistics_part(dataset: str, statistics: pl.DataFrame, stated: pl.DataFrame) -> list[Part]:
    """The sizes of one data set; none where it is not described.

    statistics: dataset and the columns of `dataset_statistics`; stated: dataset, statistic, stated, source.
    """
    published = {row["statistic"]: row for row in stated.filter(dataset=dataset).iter_rows(named=True)}
    labels = LABELS | OF_SOME
    place = pl.col("statistic").replace_strict(list(labels), range(len(labels)))
    lines = []
    for row in statistics.filter(dataset=dataset).sort(place, pl.col("of") != "all", "of").iter_rows(named=True):
        name, whole = row["statistic"], row["of"] == "all"
        label = labels[name] if whole else f"{labels[name]}: {row['of']}"
        spread = (None, None) if name in SHARES else (row["median"], f"{row['least']:,.0f} to {row['most']:,.0f}")
        lines.append(
            Row(
                (
                    label,
                    row["n"],
                    row["mean"],
                    *spread,
                    published[name]["stated"] if whole and name in published else None,
                )
            )
        )
    sources = ", ".join(sorted({row["source"] for row in published.values()}))
    note = "n: groups, passages, sessions, questions or answers; evidence: questions whose gold resolves. Only passages are "
    note += "counted, in MiniLM's word pieces." + (
        f" Published figures stand as printed in {sources}." if sources else ""
    )
    note += f" Rows: dataset_statistics.parquet, dataset = {dataset}."
    return [{"title": "The data", "table": Table(COLUMNS, lines), "note": note}] if lines else []
