"""The findings of an experiment: the paired difference of each system and its best baseline, and one sentence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.evaluation.comparison import PRIMARY, significant
from secateur.evaluation.subsets import MAIN
from secateur.report.format import WHOLE, enough_data, more_questions, row_name, sizes, verdict
from secateur.report.table import Column, Number, Row, Table, inline, interval

__all__ = ["CONTROL", "METRICS", "YOURS", "Line", "findings", "line_table", "lines", "sentence", "small_print"]
__all__ += ["difference_of", "main_metric", "main_subset"]

METRICS = {  # metric: (what rows may differ in, words for a higher first row, for a lower one)
    "evidence_recall@claim": ("evidence", "holds more evidence than", "holds less evidence than"),
    "token_recall@claim": ("gold words", "holds more gold words than", "holds fewer gold words than"),
    "f1_at_gold": ("the F1 of turns", *(f"chooses turns of a {way} F1 than" for way in ("higher", "lower"))),
    "rouge_l": ("ROUGE-L", "has a higher ROUGE-L than", "has a lower ROUGE-L than"),
    "answer_gain@claim": ("answer gain", "has a higher answer gain than", "has a lower answer gain than"),
    "policy_utility": ("utility", "has a higher utility than", "has a lower utility than"),
}  # a finding is about one of these: `main_metric`
PLAIN = "lexical"  # the family of the baselines
YOURS = "yours"  # the family of the user's rankers; contexts made elsewhere are of the family `imported`
OWN = (YOURS, "imported")
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
    data set, baselines included; key: system, scorer, order and answer-awareness; needed:
    about how many more questions a verdict needs.
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
    needed: int = 0

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


def line_table(lines: Sequence[Line]) -> Table:
    """A row per system; p is omitted where there is not enough data."""
    columns = [*(Column(name, align="left") for name in ("system", "minus")), DIFFERENCE, Column("p", 4), Column("n")]
    rows = [
        Row((line.name, line.baseline, _cell(line), line.p if line.enough_data else None, line.n, line.verdict))
        for line in lines
    ]
    return Table([*columns, Column("verdict", align="left")], rows, labels=2)


def lines(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
    metric: str | None = None,
) -> list[Line]:
    """The lines of one data set, the best difference first, those that see the answer last.

    Empty without a pair of a system and a plain ranking. metrics, comparisons: rows of the data set; families: system ->
    family; metric: by default `main_metric`.
    """
    metric = metric or main_metric(comparisons, families)
    if metric is None:
        return []
    subset = main_subset(comparisons)
    shown = (pl.col("metric") == metric) & pl.col("subset").eq_missing(pl.lit(subset))
    rows = metrics.filter(shown)
    means = {_key(row): (row["value"], row["n"]) for row in rows.iter_rows(named=True)}
    best: dict[tuple, tuple[tuple[bool, float], Mapping[str, Any]]] = {}
    for pair in both_ways(comparisons.filter(shown, pl.col("axis").is_in(AXES))).iter_rows(named=True):
        family, baseline = families.get(pair["system"], PLAIN), families.get(pair["baseline"])
        key, other = _key(pair), _key(pair | {new: pair[old] for new, old in SIDE.items()})
        if baseline != PLAIN or family in (PLAIN, CONTROL) or key not in means or other not in means:
            continue
        # Baselines that answer all questions of the system come first, then those with a higher mean.
        rank = (pair["n"] >= means[key][1], means[other][0])
        if key not in best or rank > best[key][0]:
            best[key] = rank, pair
    controls = [system for system, family in families.items() if family == CONTROL]
    top = _top(rows.filter(~pl.col("system").is_in(controls)))
    all_lines = [
        Line(
            name=_name(pair),
            family=families[pair["system"]],
            baseline=row_name(pair["baseline"], pair["baseline_scorer"]),
            p=pair["p_holm"],
            value=means[key][0],
            enough_data=enough_data(pair["n"], pair["units"], min_units),
            aware=pair["answer_aware"],
            top=top,
            key=key,
            needed=more_questions(pair["n"], pair["units"], min_units),
            **{column: pair[column] for column in ("metric", "difference", "low", "high", "n", "units")},
        )
        for key, (_, pair) in best.items()
    ]
    return sorted(all_lines, key=lambda line: (line.aware, -line.difference, line.name))


def _top(rows: pl.DataFrame) -> str:
    """The row with the highest mean of those that do not see the answer and answer the most questions."""
    free = rows.filter(~pl.col("answer_aware"))
    if free.is_empty():
        return ""
    whole = free.filter(pl.col("n") == free["n"].max())
    return _name(whole.sort("value", descending=True, maintain_order=True).row(0, named=True))


def _name(row: Mapping[str, Any]) -> str:
    aware = ", order-aware" if row["order"] == "aware" else ""
    return row_name(row["system"], row["scorer"]) + aware + (", sees the answer" if row["answer_aware"] else "")


def main_subset(rows: pl.DataFrame) -> str | None:
    """The subset of questions that findings are about; None without rows."""
    return next((subset for subset in MAIN if (rows["subset"] == subset).any()), None)


def main_metric(comparisons: pl.DataFrame, families: Mapping[str, str]) -> str | None:
    """The metric of the finding: the first of METRICS measured on at least half as many questions as the best measured one.

    Of its budgets, and of such metrics, the one with the most of the user's rows is chosen: theirs may have one length, or
    no passages. A row counts where it has 9 in 10 of its most questions, so that a few short contexts do not decide.
    """
    ranked = comparisons.filter(pl.col("axis").is_in(AXES))
    counts = dict(ranked.group_by("metric").agg(pl.col("n").max()).iter_rows())
    most = max((counts.get(metric, 0) for metric in METRICS), default=0)
    yours: dict[str, dict[str, int]] = {}  # row of the user: metric -> questions
    for metric, n, *systems in ranked.select("metric", "n", "system", "baseline").iter_rows():
        for name in (name for name in systems if families.get(name) in OWN):
            row = yours.setdefault(name, {})
            row[metric] = max(n, row.get(metric, 0))
    candidates = [
        name
        for metric in METRICS
        if 0 < most <= 2 * counts.get(metric, 0)
        for name in (metric, *_at_budgets(metric, counts))
    ]

    def told(metric: str) -> int:
        """Rows of the user that have nearly as many questions as under any other candidate."""
        most_of = (max(row.get(name, 0) for name in candidates) for row in yours.values())
        return sum(0 < WHOLE * n <= row.get(metric, 0) for n, row in zip(most_of, yours.values(), strict=True))

    return max(candidates, key=told, default=None)


def _at_budgets(metric: str, metrics: Iterable[str]) -> list[str]:
    """The budgets behind a mean over budgets, the lowest first."""
    base = metric.removesuffix("claim")
    return sorted((m for m in metrics if m.removeprefix(base).isdigit()), key=lambda m: int(m.removeprefix(base)))


def both_ways(pairs: pl.DataFrame, family: bool = False) -> pl.DataFrame:
    """Each pair of `comparisons`, then the same with its sides exchanged. family: only tests of the primary family, else none."""
    pairs = pairs.filter((pl.col("axis") == PRIMARY) == family)
    ends = {"difference": -pl.col("difference"), "low": -pl.col("high"), "high": -pl.col("low")}
    exchanged = pairs.with_columns(**ends).rename(SIDE).select(pairs.columns)
    both = pl.concat([rows.with_row_index("place") for rows in (pairs, exchanged)])
    return both.sort("place", maintain_order=True).drop("place")


def _key(row: Mapping[str, Any]) -> tuple:
    return tuple(row[column] for column in ROW)


# --- in words ------------------------------------------------------------------------------------


def sentence(dataset: str, lines: Sequence[Line]) -> str:
    """The finding of a data set in one sentence. A difference that is not significant is never called none.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.1, 0.05, 0.15, 0.01, 50, 20, 0.5, True, False, "beam")
    >>> sentence("toy", [line])
    'toy: beam chooses turns of a higher F1 than the best baseline (bm25): +0.100, 95 % CI +0.050 to +0.150, n = 50.'
    """
    line = _chosen(lines)
    noun, more, less = METRICS.get(line.metric) or METRICS[line.metric.partition("@")[0] + "@claim"]
    figures = f"{line.difference:+.3f}, 95 % CI {line.interval}, n = {line.n}".replace("-", MINUS)
    if not line.enough_data:
        needed = f"about {line.needed} more questions are needed for a verdict"
        return f"{dataset}: {line.name} minus {line.baseline}: {figures}; {needed}."
    if not line.significant:
        rows = f"{line.name} and the best baseline ({line.baseline})"
        return f"{dataset}: {rows} do not differ significantly in {noun} after Holm: {figures}."
    return f"{dataset}: {line.name} {more if line.difference > 0 else less} the best baseline ({line.baseline}): {figures}."


def small_print(lines: Sequence[Line], claimed: Sequence[int]) -> str:
    """The test behind a sentence; empty without enough data. claimed: budgets of `@claim` in tokens.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.02, -0.05, 0.09, 1, 50, 20, 0.5, True, False, "bm25")
    >>> small_print([line], [64, 512])
    'beam minus bm25: not significant at .05 after Holm (p 1.0000), 50 questions in 20 units. The highest mean is that of bm25.'
    """
    line = _chosen(lines)
    if not line.enough_data:
        return ""
    at = f", {min(claimed)} to {max(claimed)} tokens" if line.metric.endswith("recall@claim") else ""
    at = f", within {budget} tokens" if (budget := line.metric.partition("@")[2]).isdigit() else at
    over = sizes({"n": line.n, "units": line.units})
    highest = "" if line.top == line.name else f" The highest mean is that of {line.top}."
    return f"{line.name} minus {line.baseline}: {line.verdict} at .05 after Holm (p {line.p:.4f}), {over}{at}.{highest}"


def _chosen(lines: Sequence[Line]) -> Line:
    """The line of the sentence: the highest mean of those that are significantly ahead, else of all.

    Lines that see the answer, lack data or cover less than half of the questions count only without others.
    """
    free = [line for line in lines if not line.aware] or list(lines)
    enough = [line for line in free if line.enough_data] or free
    most = max(line.n for line in enough)
    wide = [line for line in enough if 2 * line.n >= most]
    ahead = [line for line in wide if line.significant and line.difference > 0]
    return max(ahead or wide, key=lambda line: line.value)


def findings(
    metrics: pl.DataFrame, comparisons: pl.DataFrame, families: Mapping[str, str], min_units: int
) -> Iterator[tuple[str, list[Line], str]]:
    """(data set, its lines, its sentence) of the data sets with lines. metrics, comparisons: whole tables."""
    measured = metrics.filter(~pl.col("published"))
    for dataset in measured["dataset"].unique(maintain_order=True):
        dataset_lines = lines(
            measured.filter(dataset=dataset), comparisons.filter(dataset=dataset), families, min_units
        )
        if dataset_lines:
            yield dataset, dataset_lines, sentence(dataset, dataset_lines)
