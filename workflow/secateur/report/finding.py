"""The findings of an experiment: the paired difference of each system and its best baseline, and one sentence."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.evaluation.comparison import PRIMARY, significant
from secateur.evaluation.figure import figure_of, headlines
from secateur.evaluation.subsets import MAIN
from secateur.evaluation.verdict import UNADJUSTED, enough_data, missing_data, verdict
from secateur.report.format import p_value, row_name, sizes
from secateur.report.table import Column, Number, Row, Table, inline, interval

__all__ = ["CONTROL", "YOURS", "Line", "findings", "line_table", "lines", "sentence", "small_print"]
__all__ += ["difference_of", "main_metric", "main_subset"]

PLAIN = "lexical"  # the family of the baselines
YOURS = "yours"  # the family of the user's rankers
IMPORTED = "imported"  # the family of contexts made elsewhere
OWN = (YOURS, IMPORTED)
PEER = "peer"  # the family of other systems
OURS = "ours"  # every other family that ranks
CONTROL = "control"  # the family of gold evidence, no context and the whole context, which do not rank
AXES = ("ranker", "strongest")  # pairs that differ only in the ranker
SIDE = {"system": "baseline", "scorer": "baseline_scorer", "baseline": "system", "baseline_scorer": "scorer"}
ROW = ["system", "scorer", "order", "answer_aware"]
MINUS = "\N{MINUS SIGN}"
DIFFERENCE = Column("difference", signed=True)


@dataclass(frozen=True)
class Line:
    """The paired difference of a system and its best baseline: a plain ranking of the same order and form.

    value: mean of the system; p: after Holm; aware: the system sees the answer; top: the row with the highest mean of the
    data set, baselines included; key: system, scorer, order and answer-awareness; needed: what a verdict lacks;
    tokens: mean tokens that the two rows send.
    """

    name: str
    family: str
    baseline: str
    metric: str
    difference: float
    low: float | None
    high: float | None
    p: float
    n: int
    units: int
    value: float
    enough_data: bool
    aware: bool
    top: str
    key: tuple = ()
    needed: str = ""
    tokens: tuple[float | None, float | None] = (None, None)

    @property
    def significant(self) -> bool:
        """Whether the rows differ at .05 after Holm."""
        return self.enough_data and significant(self.p)

    @property
    def interval(self) -> str:
        """The interval in words."""
        return interval(_cell(self), DIFFERENCE)

    @property
    def verdict(self) -> str:
        """Significant, not significant, or not enough data."""
        return verdict(self.p, self.enough_data, self.low, self.high)

    @property
    def own(self) -> bool:
        """Whether the system is the user's."""
        return self.family in OWN


def _cell(line: Line) -> Number:
    return Number(line.difference, line.low, line.high)


def difference_of(line: Line) -> str:
    """The difference with its interval."""
    return inline(_cell(line), DIFFERENCE)


def line_table(lines: Sequence[Line]) -> Table:
    """A row per system; p is omitted where there is not enough data."""
    columns = [*(Column(name, align="left") for name in ("system", "minus")), DIFFERENCE, Column("p"), Column("n")]
    rows = [
        Row(
            (line.name, line.baseline, _cell(line), p_value(line.p) if line.enough_data else None, line.n, line.verdict)
        )
        for line in lines
    ]
    return Table([*columns, Column("verdict", align="left")], rows, labels=2)


def lines(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
    metric: str | None = None,
    against: str = PLAIN,
) -> list[Line]:
    """The lines of one data set: the user's rows, then the best difference first, those that see the answer last.

    Empty without a pair of a system and a plain ranking. metrics, comparisons: rows of the data set; families: system ->
    family; metric: by default `main_metric`; against: PLAIN, or OURS for the user's rows and the best other system.
    """
    metric = metric or main_metric(comparisons, families)
    if metric is None:
        return []
    shown = pl.col("subset").eq_missing(pl.lit(main_subset(comparisons)))
    rows = metrics.filter(shown, metric=metric)
    means = {_key(row): (row["value"], row["n"]) for row in rows.iter_rows(named=True)}
    sent = metrics.filter(shown, metric=f"tokens@{metric.partition('@')[2]}")
    tokens = {_key(row): row["value"] for row in sent.iter_rows(named=True)}
    best: dict[tuple, tuple[tuple[bool, float], Mapping[str, Any]]] = {}
    for pair in both_ways(comparisons.filter(shown, pl.col("axis").is_in(AXES), metric=metric)).iter_rows(named=True):
        family, baseline = families.get(pair["system"], PLAIN), families.get(pair["baseline"])
        key, other = _key(pair), _key(pair | {new: pair[old] for new, old in SIDE.items()})
        wanted = (
            baseline == PLAIN if against == PLAIN else family in OWN and baseline not in (PLAIN, CONTROL, PEER, *OWN)
        )
        if not wanted or family in (PLAIN, CONTROL) or key not in means or other not in means:
            continue
        # Baselines that answer all questions of the system come first, then those with a higher mean.
        rank = (pair["n"] >= means[key][1], means[other][0])
        if key not in best or rank > best[key][0]:
            best[key] = rank, pair | {"tokens": (tokens.get(key), tokens.get(other))}
    controls = [system for system, family in families.items() if family == CONTROL]
    top, highest = _top(rows.filter(~pl.col("system").is_in(controls)))
    all_lines = [
        Line(
            name=_name(pair),
            family=families[pair["system"]],
            baseline=row_name(pair["baseline"], pair["baseline_scorer"]),
            p=pair["p_holm"],
            value=means[key][0],
            enough_data=enough_data(pair["n"], pair["units"], min_units),
            aware=pair["answer_aware"],
            top=_name(pair) if means[key][0] >= highest else top,
            key=key,
            needed=missing_data(pair["n"], pair["units"], min_units),
            **{column: pair[column] for column in ("metric", "difference", "low", "high", "n", "units", "tokens")},
        )
        for key, (_, pair) in best.items()
    ]
    return sorted(all_lines, key=lambda line: (line.aware, not line.own, -line.difference, line.name))


def _top(rows: pl.DataFrame) -> tuple[str, float]:
    """The row with the highest mean of those that do not see the answer and answer the most questions, and that mean."""
    free = rows.filter(~pl.col("answer_aware"))
    if free.is_empty():
        return "", math.inf
    whole = free.filter(pl.col("n") == free["n"].max())
    best = whole.sort("value", descending=True, maintain_order=True).row(0, named=True)
    return _name(best), best["value"]


def _name(row: Mapping[str, Any]) -> str:
    aware = ", order-aware" if row["order"] == "aware" else ""
    return row_name(row["system"], row["scorer"]) + aware + (", sees the answer" if row["answer_aware"] else "")


def main_subset(rows: pl.DataFrame) -> str | None:
    """The subset of questions that findings are about; None without rows."""
    return next((subset for subset in MAIN if (rows["subset"] == subset).any()), None)


def main_metric(comparisons: pl.DataFrame, families: Mapping[str, str], row: str | None = None) -> str | None:
    """The metric of the finding: the first headline, on at least half of the questions of any.

    Where a row of the user's was made elsewhere, it is measured at that row's numbers of tokens. row: one of several.
    """
    ranked = comparisons.filter(pl.col("axis").is_in(AXES))
    rows = [*ranked["system"], *ranked["baseline"]]
    row = row or next((name for name in rows if families.get(name) == IMPORTED), None)
    is_imported = families.get(row or "") == IMPORTED
    if is_imported:
        ranked = ranked.filter((pl.col("system") == row) | (pl.col("baseline") == row))
    counts = dict(ranked.group_by("metric", maintain_order=True).agg(pl.col("n").max()).iter_rows())
    base_of = {metric: metric.partition("@")[0] for metric in counts}
    names = dict.fromkeys([*headlines(counts), *base_of.values()])  # a plug-in may be gone since
    at = [row.partition(":")[0]] if is_imported else ["claim", ""]
    candidates = [f"{base}@{place}".rstrip("@") for base in names for place in at]
    others = [metric for base in names for metric in counts if base_of[metric] == base and metric not in candidates]
    measured = [metric for metric in (*candidates, *others) if metric in counts]
    most = max((counts[metric] for metric in measured), default=0)
    return next((metric for metric in measured if 2 * counts[metric] >= most), None)


def both_ways(pairs: pl.DataFrame, family: bool = False) -> pl.DataFrame:
    """Each pair of `comparisons`, then the same with its sides exchanged. family: only tests of the primary family, else none."""
    pairs = pairs.filter((pl.col("axis") == PRIMARY) == family)
    ends = {"difference": -pl.col("difference"), "low": -pl.col("high"), "high": -pl.col("low")}
    exchanged = pairs.with_columns(**ends).rename(SIDE).select(pairs.columns)
    directed = pl.concat([rows.with_row_index("place") for rows in (pairs, exchanged)])
    return directed.sort("place", maintain_order=True).drop("place")


def _key(row: Mapping[str, Any]) -> tuple:
    return tuple(row[column] for column in ROW)


# --- in words ------------------------------------------------------------------------------------


def sentence(dataset: str, lines: Sequence[Line], beside: Line | None = None) -> str:
    """The finding of a data set in one sentence. A difference that is not significant is never called none.

    beside: the user's row and our best one.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.1, 0.05, 0.15, 0.01, 50, 20, 0.5, True, False, "beam")
    >>> sentence("toy", [line])
    'toy: beam chooses turns of a higher F1 than the best baseline (bm25): +0.100, 95 % CI +0.050 to +0.150, n = 50.'
    """
    line = _chosen(lines)
    noun, more, less = _words(line.metric)
    figures = f"{_figures(line)}, n = {line.n}{_at_tokens(line)}"
    baseline = f"the best baseline ({line.baseline})"
    if not line.enough_data:
        text = f"{line.name} minus {line.baseline}: {figures}; {line.needed}."
    elif not line.significant:
        text = f"{line.name} and {baseline} do not differ significantly in {noun} after Holm: {figures}."
    else:
        text = f"{line.name} {more if line.difference > 0 else less} {baseline}: {figures}."
    ours = f" Minus our best row ({beside.baseline}): {_figures(beside)}, {beside.verdict}." if beside else ""
    return f"{dataset}: {text}{ours}"


def _words(metric: str) -> tuple[str, str, str]:
    """What rows may differ in, words for a higher first row, and for a lower one."""
    figure = figure_of(metric.partition("@")[0])
    title = figure.title
    return figure.words or (title, f"has a higher {title} than", f"has a lower {title} than")


def _figures(line: Line) -> str:
    """The difference with its interval."""
    unadjusted = ", unadjusted" if line.verdict.endswith(UNADJUSTED) else ""
    return f"{line.difference:+.3f}, 95 % CI {line.interval}{unadjusted}".replace("-", MINUS)


def _at_tokens(line: Line) -> str:
    """The mean tokens that rows send which are compared at the length of one of them."""
    at = line.metric.partition("@")[2]
    if at in ("", "claim") or at.isdigit() or None in line.tokens:
        return ""
    return f", at {line.tokens[0]:,.0f} and {line.tokens[1]:,.0f} tokens"


def small_print(lines: Sequence[Line], claimed: Sequence[int]) -> str:
    """The test behind a sentence; empty without enough data. claimed: budgets of `@claim` in tokens.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.02, -0.05, 0.09, 1, 50, 20, 0.5, True, False, "bm25")
    >>> small_print([line], [64, 512])
    'beam minus bm25: not significant at .05 after Holm (p 1.0000), 50 questions in 20 units. The highest mean is that of bm25.'
    """
    line = _chosen(lines)
    if not line.enough_data:
        return ""
    base, _, at = line.metric.partition("@")
    within = f", within {at} tokens" if at.isdigit() else ""
    if at == "claim" and base in ("evidence_recall", "token_recall"):
        within = f", {min(claimed)} to {max(claimed)} tokens"
    elif at and at != "claim" and not at.isdigit():
        within = f", each question at the tokens of {at}"
    over = sizes({"n": line.n, "units": line.units})
    highest = "" if line.top == line.name else f" The highest mean is that of {line.top}."
    return f"{line.name} minus {line.baseline}: {line.verdict} at .05 after Holm (p {p_value(line.p)}), {over}{within}.{highest}"


def _chosen(lines: Sequence[Line]) -> Line:
    """The line of the sentence: the user's, else the highest mean of those that are significantly ahead, else of all.

    Lines that see the answer, lack data or cover less than half of the questions count only without others.
    """
    free = [line for line in lines if not line.aware] or list(lines)
    free = [line for line in free if line.own] or free
    enough = [line for line in free if line.enough_data] or free
    most = max(line.n for line in enough)
    wide = [line for line in enough if 2 * line.n >= most]
    ahead = [line for line in wide if line.significant and line.difference > 0]
    return max(ahead or wide, key=lambda line: line.value)


def findings(
    metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str], min_units: int
) -> Iterator[tuple[str, list[Line], str]]:
    """(data set, its lines, its sentences) of the data sets with lines. metrics, comparisons: whole tables.

    Each row of the user's has a sentence; without one, the best row has.
    """
    measured = metrics.filter(~pl.col("published"))
    for dataset in measured["dataset"].unique(maintain_order=True):
        here = (measured.filter(dataset=dataset), comparisons.filter(dataset=dataset), families, min_units)
        theirs = [name for name in here[0]["system"].unique(maintain_order=True) if families.get(name) in OWN]
        all_lines, sentences = [], []
        for row in (*theirs, None):
            if row is None and all_lines:
                break
            metric = main_metric(here[1], families, row)
            of_metric, ours = (lines(*here, metric, against) if metric else [] for against in (PLAIN, OURS))
            shown = [line for line in of_metric if row is None or line.key[0] == row]
            if shown:
                beside = next((line for line in ours if line.key[0] == row), None)
                sentences.append(sentence(dataset, shown, beside))
                all_lines = all_lines or of_metric
        if all_lines:
            yield dataset, all_lines, " ".join(sentences)
