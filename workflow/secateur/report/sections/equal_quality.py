"""The report's part on tokens at equal quality: how few tokens a system needs to be as good as the reference."""

from collections.abc import Iterator, Mapping

import polars as pl

from secateur.report.format import Part, named, number
from secateur.report.plots.charts import Dot, forest, forests
from secateur.report.table import Column, Row, Table

__all__ = ["equal_quality_parts", "equal_quality_plots"]

WORDS = {"evidence_recall": "evidence recall", "token_recall": "token recall", "token_f1": "token F1 of answers"}
NEVER = "never"


def equal_quality_parts(dataset: str, equal: pl.DataFrame, families: Mapping[str, str]) -> Iterator[Part]:
    """A plot and a table for each metric; none without a reference. equal: the table `equal_quality`."""
    for rows in _by_metric(equal.filter(dataset=dataset)):
        first = rows.row(0, named=True)
        words, reference = WORDS[first["metric"]], first["reference"]
        label = f"tokens for the {words} of {reference} on {dataset}"
        columns = [Column(f"tokens over those of {reference}"), Column("tokens", 0)]
        columns = [Column("system", align="left"), *columns, Column("reached", 2), Column("n")]
        yield {
            "title": f"Tokens for the {words} of {reference}",
            "figures": [forests(_dots(rows, families), label, _xlabel(rows), (1, f"as many as {reference}"))],
            "behind": Table(
                columns,
                [Row((r["name"], _text(r), r["tokens"], r["reached"], r["n"])) for r in rows.iter_rows(named=True)],
            ),
            "note": f"{reference} has {number(first['level'])} at {number(first['reference_tokens'], 0)} tokens. A system's "
            "tokens are interpolated between budgets. 95 % intervals resample questions, or clusters of them. Reached: "
            "share of resamples in which the system gets there. Never: at no budget.",
        }


def equal_quality_plots(equal: pl.DataFrame, families: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """(name, figure) of each data set and metric."""
    for dataset in equal["dataset"].unique(maintain_order=True):
        for rows in _by_metric(equal.filter(dataset=dataset)):
            plot = forest(_dots(rows, families), _xlabel(rows), (1, f"as many as {rows['reference'][0]}"))
            yield f"tokens-{rows['metric'][0]}-{dataset}", plot


def _by_metric(equal: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows of each metric, the fewest tokens first and those that never get there last."""
    aware = pl.when(order="aware").then(pl.lit(", order-aware")).otherwise(pl.lit(""))
    rows = named(equal).with_columns(name=pl.col("name") + aware).sort("ratio", "name", nulls_last=True)
    yield from (part for metric in WORDS if (part := rows.filter(metric=metric)).height)


def _xlabel(rows: pl.DataFrame) -> str:
    return f"tokens for the same {WORDS[rows['metric'][0]]}, as a ratio; dashed: no upper end"


def _text(row: Mapping) -> str:
    """The ratio with its interval."""
    if row["ratio"] is None:
        return NEVER
    ends = [NEVER if end is None else number(end, 2) for end in (row["low"], row["high"])]
    return f"{'at most ' * row['at_most']}{number(row['ratio'], 2)} ({ends[0]} to {ends[1]})"


def _dots(rows: pl.DataFrame, families: Mapping[str, str]) -> list[Dot]:
    dots = []
    for row in rows.iter_rows(named=True):
        never, family = row["ratio"] is None, families.get(row["system"], "imported")
        ends = (1.0, None, None) if never else (row["ratio"], row["low"], row["high"])
        dots.append(Dot(row["name"], family, *ends, _text(row), f"n {row['n']}", empty=never))
    return dots
