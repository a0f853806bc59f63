"""Leaderboards: every row of a data set by one metric, with its difference to the best row and to the best baseline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from secateur.evaluation import utility
from secateur.evaluation.comparison import PRIMARY
from secateur.evaluation.figure import figure_of
from secateur.evaluation.verdict import UNADJUSTED, enough_data, verdict
from secateur.report.finding import CONTROL, OWN, Line, lines, main_metric, main_subset
from secateur.report.format import SEES_ANSWER, difference, named, of_fewer, pivoted, with_enough_data
from secateur.report.table import Column, Number, Row, Table, interval

__all__ = ["Board", "board_table", "boards", "embedded", "primary_table", "title_of"]

STAR, LEADS = "★", "the best"
WITHIN, MEAN = "within {} tokens", "mean of {} to {} tokens"
OF_SYSTEM = "each question at the tokens of {}"
OF_TURNS = {f"{level}{name}" for level in ("", "session_") for name in ("recall_any", "recall_all", "ndcg_any")}
RANKED = {"passage_recall", "all_gold", "ndcg", *OF_TURNS}  # metrics whose number behind @ is a rank


@dataclass(frozen=True)
class Place:
    """A row of a leaderboard.

    best: its difference to the best row; baseline: the line to its best baseline, if it has one; tokens: sent, in the mean.
    """

    name: str
    family: str
    value: Number
    n: int
    best: Number | None
    best_verdict: str
    baseline: Line | None
    tokens: float | None = None

    @property
    def label(self) -> str:
        """Its name, starred if the system is the user's."""
        return f"{STAR} {self.name}" if self.family in OWN else self.name


@dataclass(frozen=True)
class Board:
    """Rows of one data set, metric and order, best first; then those of fewer questions, controls, and answer-aware rows."""

    dataset: str
    metric: str
    order: str | None
    places: list[Place]


def boards(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    leaders: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
    first: Sequence[str] = (),
) -> Iterator[Board]:
    """The leaderboards of all data sets, `first` first: the main metric first, order-blind rows before order-aware ones."""
    measured = metrics.filter(~pl.col("published"))
    places = {dataset: n for n, dataset in enumerate(first)}
    for dataset in sorted(
        measured["dataset"].unique(maintain_order=True), key=lambda name: places.get(name, len(places))
    ):
        rows, pairs, best = (table.filter(dataset=dataset) for table in (measured, comparisons, leaders))
        rows = named(rows.filter(pl.col("subset").eq_missing(pl.lit(main_subset(rows)))))
        best = named(best.filter(pl.col("subset").eq_missing(pl.lit(main_subset(best)))))
        main = main_metric(pairs, families)
        compared = rows["metric"].unique(maintain_order=True).to_list()
        compared = [metric for metric in compared if metric == main or (best["metric"] == metric).any()]
        for metric in sorted(compared, key=lambda metric: (metric != main, compared.index(metric))):
            baseline_lines = lines(rows, pairs, families, min_units, metric)
            part = _with_tokens(rows, metric)
            for order in sorted(part["order"].unique().to_list(), key=lambda order: order != "blind"):
                here = pl.col("order").eq_missing(pl.lit(order))
                yield Board(
                    dataset,
                    metric,
                    order,
                    _places(part.filter(here), best.filter(here, metric=metric), baseline_lines, families, min_units),
                )


def _with_tokens(rows: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The rows of a metric, with the mean tokens that each sends at its budget; null where none are counted."""
    sent = rows.filter(metric=f"tokens@{metric.partition('@')[2]}")
    keys = ["name", "order", "answer_aware", "subset"]
    tokens = sent.select(*keys, tokens="value")
    return rows.filter(metric=metric).join(tokens, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _places(
    rows: pl.DataFrame, best: pl.DataFrame, baseline_lines: list[Line], families: Mapping[str, str], min_units: int
) -> list[Place]:
    to_best = {(row["name"], row["answer_aware"]): row for row in best.iter_rows(named=True)}
    leading = set(best.select("minus", "answer_aware").iter_rows())
    to_baseline = {line.key: line for line in baseline_lines}
    places = []
    for row in rows.with_columns(few=of_fewer()).iter_rows(named=True):
        pair = to_best.get((row["name"], row["answer_aware"]))
        enough = bool(pair and enough_data(pair["n"], pair["units"], min_units))
        name = row["name"] + (SEES_ANSWER if row["answer_aware"] else "")
        places.append(
            (
                row["answer_aware"],
                families.get(row["system"]) == CONTROL,
                row["few"],
                -row["value"],
                Place(
                    name,
                    families.get(row["system"], ""),
                    Number(row["value"], row["low"], row["high"]),
                    row["n"],
                    Number(pair["difference"], pair["low"], pair["high"]) if pair else None,
                    verdict(pair["p_holm"], enough, pair["low"], pair["high"])
                    if pair
                    else LEADS * ((row["name"], row["answer_aware"]) in leading),
                    to_baseline.get((row["system"], row["scorer"], row["order"], row["answer_aware"])),
                    row["tokens"],
                ),
            )
        )
    return [place for *_, place in sorted(places, key=lambda place: place[:4])]


def title_of(metric: str, claimed: tuple[int, ...]) -> tuple[str, str]:
    """(metric, budget) in words; no budget for metrics without one, the judge's option for those of a judge.

    >>> title_of("evidence_recall@claim", (64, 512)), title_of("f1_at_gold", ())
    (('evidence recall', 'mean of 64 to 512 tokens'), ('F1 of turns', ''))
    >>> title_of("judged_acc@endpoint", ())[1], title_of("evidence_recall@myrag", ())[1]
    ('judged by endpoint', 'each question at the tokens of myrag')
    >>> title_of("utility@0.5", ())
    ('utility at a price', 'price 0.5')
    """
    base, _, at = metric.partition("@")
    title = figure_of(base).title
    if not at:
        return title, ""
    if at == "claim":
        return title, "mean" if base.startswith("answer_gain") else MEAN.format(min(claimed), max(claimed))
    if base == utility.NAME:
        return title, f"price {at}"
    if not at.isdigit():
        return title, f"judged by {at}" if base.startswith("judged_") else OF_SYSTEM.format(at)
    return title, f"at {at}" if base in RANKED else WITHIN.format(at)


def board_table(board: Board, claimed: tuple[int, ...]) -> Table:
    """A leaderboard as a table."""
    title, budget = title_of(board.metric, claimed)
    n = sorted({place.n for place in board.places})
    sent = sorted({round(place.tokens) for place in board.places if place.tokens is not None})
    columns = [
        *(Column("row", align="left"), Column(title, figure_of(board.metric.partition("@")[0]).digits)),
        *([Column("tokens", 0)] * bool(sent)),
        *(Column("minus the best", signed=True), Column("verdict", align="left")),
        Column("best baseline", align="left"),
        *(Column("minus it", signed=True), Column("verdict on it", align="left")),
        *([Column("n", 0)] * (len(n) > 1)),
    ]
    rows, verdicts = [], []
    for place in board.places:
        line = place.baseline
        to_it = (
            (line.baseline, Number(line.difference, line.low, line.high), line.verdict) if line else (None, None, None)
        )
        verdicts += [place.best_verdict, to_it[-1] or ""]
        cells = (place.label, place.value, *((place.tokens,) * bool(sent)), place.best, place.best_verdict, *to_it)
        cells += (Number(place.n),) * (len(n) > 1)
        short = tuple(cell.removesuffix(UNADJUSTED) if isinstance(cell, str) else cell for cell in cells)
        rows.append(Row(short, "ours" if place.family in OWN else ""))
    order = f"order-{board.order}, " if board.order else ""
    counts = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
    starred = f" {STAR} yours." if any(place.family in OWN for place in board.places) else ""
    tokens = f", {sent[0]:,}{f' to {sent[-1]:,}' * (len(sent) > 1)} tokens sent" if sent else ""
    unadjusted = any(verdict.endswith(UNADJUSTED) for verdict in verdicts)
    note = " Intervals are unadjusted, verdicts after Holm." * unadjusted
    caption = f"{board.dataset}, {order}{f'{budget}, ' if budget else ''}n {counts}{tokens}.{starred}{note}"
    return Table(columns, rows, caption)


def primary_table(comparisons: pl.DataFrame, min_units: int, claimed: Sequence[int]) -> Table | None:
    """A row a pair of the primary family and data set, a column a metric; None for an experiment without one."""
    rows = with_enough_data(named(comparisons.filter(axis=PRIMARY)), min_units)
    metrics = rows["metric"].unique(maintain_order=True)
    columns = {m: Column(", ".join(filter(None, title_of(m, tuple(claimed)))), signed=True) for m in metrics}
    orders = {"order": "order"} if rows["order"].n_unique() > 1 else {}
    labels = {"dataset": "data set", "name": "row", "minus": "minus"} | orders
    table = pivoted(rows, columns, "metric", labels=labels, cell=difference)
    caption = f"The primary family, tests that the experiment declares ({rows.height}): p after Holm over these alone."
    return replace(table, caption=caption) if rows.height else None


def embedded(all_boards: list[Board], claimed: tuple[int, ...]) -> list[dict[str, Any]]:
    """The leaderboards as plain data for the page: of each, its labels and its cells as text."""
    data = []
    for board in all_boards:
        title, budget = title_of(board.metric, claimed)
        table = board_table(board, claimed)
        columns = table.columns
        cells = [
            [[text, interval(cell, column)] for text, cell, column in zip(texts, row.cells, columns, strict=True)]
            for texts, row in zip(table.texts(), table.rows, strict=True)
        ]
        data.append(
            {
                "set": board.dataset,
                "metric": title,
                "budget": budget,
                "order": board.order or "",
                "caption": table.caption,
            }
            | {"heads": table.heads, "left": [column.align == "left" for column in columns]}
            | {"rows": cells, "yours": [row.style == "ours" for row in table.rows]}
        )
    return data
