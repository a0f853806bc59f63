"""The findings of an experiment: the paired difference of each system and its best baseline, and one sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.evaluation.comparison import significant
from secateur.report.format import NOT_ENOUGH, enough_data, row_name, sizes, verdict
from secateur.report.table import Column, Number, Row, Table, inline, interval

__all__ = ["CONTROL", "METRICS", "Line", "findings", "line_table", "lines", "sentence", "small_print"]
__all__ += ["difference_of"]

METRICS = {  # metric: (two rows that do not differ, the first is higher, the first is lower)
    "evidence_recall@claim": ("hold the same evidence", "holds more evidence than", "holds less evidence than"),
    "token_recall@claim": ("hold as many gold words", "holds more gold words than", "holds fewer gold words than"),
    "f1_at_gold": (
        "choose turns of the same F1",
        "chooses turns of a higher F1 than",
        "chooses turns of a lower F1 than",
    ),
    "rouge_l": ("have the same ROUGE-L", "has a higher ROUGE-L than", "has a lower ROUGE-L than"),
    "answer_gain@claim": ("have the same answer gain", "has a higher answer gain than", "has a lower answer gain than"),
    "policy_utility": ("have the same utility", "has a higher utility than", "has a lower utility than"),
}  # a data set's finding is about the first of these that speaks of most of its questions
MAIN = ("cat1-4", "all")  # subsets of questions: a finding is about the first of these that there is
PLAIN = "lexical"  # the family of the baselines
CONTROL = "control"  # the family of gold evidence, no context and the whole context, which rank nothing
AXES = ("ranker", "strongest")  # pairs that differ in the ranker alone
SIDE = {"system": "baseline", "scorer": "baseline_scorer", "baseline": "system", "baseline_scorer": "scorer"}
ROW = ["system", "scorer", "order", "answer_aware"]
MINUS = "\N{MINUS SIGN}"
DIFFERENCE = Column("difference", signed=True)


@dataclass(frozen=True)
class Line:
    """The paired difference of a system and its best baseline.

    A baseline is a plain ranking of the same order, answer-awareness and form. p: after Holm; top: the row with the
    highest mean of the data set, baselines included.
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
        return verdict(self.p, self.enough_data)


def _cell(line: Line) -> Number:
    return Number(line.difference, line.low, line.high)


def difference_of(line: Line) -> str:
    """The difference with its interval."""
    return inline(_cell(line), DIFFERENCE)


def line_table(findings: Sequence[tuple[str, Sequence[Line]]]) -> Table:
    """A row a system and data set; its difference and p are omitted where there is not enough data."""
    several = len(findings) > 1
    rows = []
    for dataset, own in findings:
        for line in own:
            test = (_cell(line), line.p) if line.enough_data else (None, None)
            rows.append(Row((line.name, *[dataset] * several, line.baseline, *test, line.n, line.verdict)))
    names = ["system", *["data set"] * several, "minus"]
    columns = [*(Column(name, align="left") for name in names), DIFFERENCE, Column("p", 4), Column("n")]
    return Table([*columns, Column("verdict", align="left")], rows)


def lines(metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str], min_units: int) -> list[Line]:
    """The lines of one data set, best difference first, those that see the answer last; none where no pair of a ranking
    and a plain one was made.

    metrics, comparisons: the rows of a data set; families: of each system, lexical the plain ones.
    """
    metric = _metric(comparisons)
    if metric is None:
        return []
    whole = next((subset for subset in MAIN if (comparisons["subset"] == subset).any()), None)
    own = (pl.col("metric") == metric) & pl.col("subset").eq_missing(pl.lit(whole))
    rows = metrics.filter(own)
    means = {_key(row): (row["value"], row["n"]) for row in rows.iter_rows(named=True)}
    best: dict[tuple, dict[str, Any]] = {}
    for row in both_ways(comparisons.filter(own & pl.col("axis").is_in(AXES))).iter_rows(named=True):
        plain = families.get(row["baseline"]) == PLAIN and families.get(row["system"], PLAIN) not in (PLAIN, CONTROL)
        key, other = _key(row), _key(row | {new: row[old] for new, old in SIDE.items()})
        if not plain or key not in means or other not in means:
            continue
        # Of the baselines that answer all questions that the system does, the best one.
        worth = (row["n"] >= means[key][1], means[other][0])
        if worth > best.get(key, {}).get("worth", (False, float("-inf"))):
            best[key] = row | {"worth": worth, "value": means[key][0]}
    top = _top(rows.filter(~pl.col("system").is_in([name for name, kind in families.items() if kind == CONTROL])))
    made = [_line(row, metric, families, min_units, top) for row in best.values()]
    return sorted(made, key=lambda line: (line.aware, -line.difference, line.name))


def _top(rows: pl.DataFrame) -> str:
    """The row with the highest figure of all that do not see the answer, over as many questions as any."""
    free = rows.filter(~pl.col("answer_aware"))
    if free.is_empty():
        return ""
    whole = free.filter(pl.col("n") == free["n"].max())
    return _name(whole.sort("value", descending=True, maintain_order=True).row(0, named=True))


def _name(row: Mapping[str, Any]) -> str:
    aware = ", order-aware" if row["order"] == "aware" else ""
    return row_name(row["system"], row["scorer"]) + aware + (", sees the answer" if row["answer_aware"] else "")


def _metric(comparisons: pl.DataFrame) -> str | None:
    """The first metric that speaks of at least half of the questions that any speaks of."""
    ranked = comparisons.filter(pl.col("metric").is_in(list(METRICS)) & pl.col("axis").is_in(AXES))
    counts = dict(ranked.group_by("metric").agg(pl.col("n").max()).iter_rows())
    return next((m for m in METRICS if 2 * counts.get(m, 0) >= max(counts.values(), default=1)), None)


def both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each pair of `comparisons`, followed by the same pair with its sides exchanged."""
    ends = {"difference": -pl.col("difference"), "low": -pl.col("high"), "high": -pl.col("low")}
    exchanged = pairs.with_columns(**ends).rename(SIDE).select(pairs.columns)
    return (
        pl.concat([rows.with_row_index("place") for rows in (pairs, exchanged)])
        .sort("place", maintain_order=True)
        .drop("place")
    )


def _key(row: Mapping[str, Any]) -> tuple:
    return tuple(row[c] for c in ROW)


def _line(row: Mapping[str, Any], metric: str, families: Mapping[str, str], min_units: int, top: str) -> Line:
    return Line(
        name=_name(row),
        family=families[row["system"]],
        baseline=row_name(row["baseline"], row["baseline_scorer"]),
        metric=metric,
        difference=row["difference"],
        low=row["low"],
        high=row["high"],
        p=row["p_holm"],
        n=row["n"],
        units=row["units"],
        value=row["value"],
        enough_data=enough_data(row["n"], row["units"], min_units),
        aware=row["answer_aware"],
        top=top,
    )


# --- in words ------------------------------------------------------------------------------------


def sentence(dataset: str, found: Sequence[Line]) -> str:
    """The finding of a data set in one sentence.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.1, 0.05, 0.15, 0.01, 50, 20, 0.5, True, False, "beam")
    >>> sentence("toy", [line])
    'toy: beam chooses turns of a higher F1 than the best baseline (bm25): +0.100, 95 % CI +0.050 to +0.150, n = 50.'
    """
    line = _chosen(found)
    if not line.enough_data:
        return f"{dataset}: {NOT_ENOUGH} for a finding ({sizes({'n': line.n, 'units': line.units})})."
    same, more, less = METRICS[line.metric]
    figures = f"{line.difference:+.3f}, 95 % CI {line.interval}, n = {line.n}".replace("-", MINUS)
    if not line.significant:
        return f"{dataset}: {line.name} and the best baseline ({line.baseline}) {same} ({figures})."
    return f"{dataset}: {line.name} {more if line.difference > 0 else less} the best baseline ({line.baseline}): {figures}."


def small_print(found: Sequence[Line], claimed: Sequence[int]) -> str:
    """The test behind a sentence; empty where there is not enough data. claimed: the budgets of `@claim`, in tokens.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.02, -0.05, 0.09, 1, 50, 20, 0.5, True, False, "bm25")
    >>> small_print([line], [64, 512])
    'beam minus bm25: not significant at .05 after Holm (p 1.0000), 50 questions in 20 units. The highest mean is that of bm25.'
    """
    line = _chosen(found)
    if not line.enough_data:
        return ""
    at = f", {min(claimed)} to {max(claimed)} tokens" if line.metric.endswith("recall@claim") else ""
    over = sizes({"n": line.n, "units": line.units})
    highest = "" if line.top == line.name else f" The highest mean is that of {line.top}."
    return f"{line.name} minus {line.baseline}: {line.verdict} at .05 after Holm (p {line.p:.4f}), {over}{at}.{highest}"


def _chosen(found: Sequence[Line]) -> Line:
    """The line that the sentence is about: that of the highest mean.

    Lines that see the answer, lack data or speak of less than half of the questions come last. Those that are
    significantly ahead come first.
    """
    free = [line for line in found if not line.aware] or list(found)
    enough = [line for line in free if line.enough_data] or free
    most = max(line.n for line in enough)
    wide = [line for line in enough if 2 * line.n >= most]
    ahead = [line for line in wide if line.significant and line.difference > 0]
    return max(ahead or wide, key=lambda line: line.value)


def findings(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
) -> Iterator[tuple[str, list[Line], str]]:
    """(data set, its lines, its sentence) of an experiment, those with lines; metrics and comparisons: whole tables."""
    own = metrics.filter(~pl.col("published"))
    for dataset in own["dataset"].unique(maintain_order=True):
        here = pl.col("dataset") == dataset
        found = lines(own.filter(here), comparisons.filter(here), families, min_units)
        if found:
            yield dataset, found, sentence(dataset, found)
