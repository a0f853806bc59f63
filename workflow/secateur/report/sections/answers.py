"""The report's part on answers: how good they are under each system's context, what they cost, and differences."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from secateur.report.format import difference, dots, note, pivoted
from secateur.report.sections.judging import judged_parts
from secateur.report.table import Column, Row, Table

__all__ = ["answer_parts"]

COLUMNS = {
    "rouge_l": Column("ROUGE-L", best="higher"),
    "token_f1": Column("token F1", best="higher"),
    "exact_match": Column("exact match", best="higher"),
    "refused": Column("refused"),
    "read_gain": Column("answer gain", best="higher"),
    "read_evidence_recall": Column("evidence recall", best="higher"),
    "read_token_recall": Column("token recall", best="higher"),
    "read_tokens": Column("prompt tokens", 0),
    "completion_tokens": Column("answer tokens", 0),
}
TESTED = ("rouge_l", "token_f1", "read_gain")
DRAWN, SHOWN = "rouge_l", 8  # what is drawn, and of how many rows
ABOUT = (
    " The same instructions and questions under each system's context, answered by one model without sampling. "
    "closed_book shows no context: what the model knows already. Evidence and answer gain are of what really reached "
    "the prompt; gain is in nats per token of the gold answer."
)
UNJUDGED = (
    " Words are compared, no judge is asked: an answer in other words scores low. Pairs differ in one axis. p: sign flips "
    "over resampling units, two-sided, adjusted over the pairs of the same metric and order (Holm)."
)


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of all questions with the name of their line: its order counts where a system has several."""
    several = pl.len().over("system", "metric", "baseline") > 1
    order = pl.when(several).then(" · order-" + pl.col("order"))
    return rows.with_columns(name=pl.col("system") + order.fill_null(""))


def _figures(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One row a system, one column a metric."""
    columns = {metric: column for metric, column in COLUMNS.items() if metric in set(own["metric"])}
    return {
        "title": "Answers: figures",
        "table": pivoted(own.sort("name"), columns, "metric"),
        "note": f"{note(own, f'dataset = {dataset}, metric = ' + ', '.join(columns))} Fewer questions where they have no "
        "gold evidence.",
    }


def _drawn(dataset: str, own: pl.DataFrame, families: Mapping[str, str]) -> dict[str, Any]:
    """The best answers as a plot."""
    rows = own.filter(pl.col("metric") == DRAWN).sort("value", "name", descending=[True, False])
    drawn = dots(rows, families, f"ROUGE-L on {dataset}", "ROUGE-L of the answer, mean", SHOWN)
    about = (drawn.get("note", "") + ABOUT).strip()
    return {"title": "Answers under each context", "open": True} | drawn | {"note": about}


def _differences(dataset: str, own: pl.DataFrame) -> dict[str, Any]:
    """One row a pair, one column a metric."""
    columns = [Column("system"), Column("minus", align="left"), Column("differs in", align="left")]
    columns += [replace(COLUMNS[metric], best="", signed=True) for metric in TESTED]
    rows = []
    for names, part in own.sort("baseline", "name").group_by("name", "baseline", "axis", maintain_order=True):
        by = {row["metric"]: row for row in part.iter_rows(named=True)}
        rows.append(Row((*names, *(difference(by.get(metric)) for metric in TESTED))))
    return {
        "title": "Answers: paired differences",
        "table": Table(columns, rows),
        "note": f"comparisons.parquet, dataset = {dataset}." + UNJUDGED,
    }


def answer_parts(
    dataset: str, metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """The parts of one data set; none where no question was answered. metrics, comparisons: its rows, with `enough_data`."""
    whole = pl.col("subset") == "all"
    rows = _named(metrics.filter(whole & pl.col("metric").is_in(list(COLUMNS))).with_columns(baseline=pl.lit("")))
    if not rows.height:
        return
    yield _drawn(dataset, rows, families)
    yield _figures(dataset, rows)
    against = _named(comparisons.filter(whole & pl.col("metric").is_in(TESTED)))
    if against.height:
        yield _differences(dataset, against)
    by_judges = metrics.filter(whole & pl.col("metric").str.starts_with("judge")).with_columns(baseline=pl.lit(""))
    yield from judged_parts(_named(by_judges))
