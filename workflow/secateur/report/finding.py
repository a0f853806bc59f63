"""What an experiment found: each system beside the best plain one of its kind, and the sentence that follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.report.format import UNTOLD, bounds, enough, number, row_name, sizes

__all__ = ["CONTROL", "METRICS", "Line", "findings", "lines", "sentence", "small_print", "stated"]

METRICS = {  # what a data set's finding may be about, the first that speaks of most of its questions: what a system does,
    # and in what two of them may differ
    "evidence_recall@claim": (
        "its contexts hold {size} {more} of the gold evidence",
        "how much of the gold evidence their contexts hold",
    ),
    "token_recall@claim": (
        "its contexts hold {size} {more} of the gold words",
        "how many of the gold words their contexts hold",
    ),
    "f1_at_gold": (
        "the turns it chooses have an F1 that is {size} {higher}",
        "the F1 of the turns they choose",
    ),
    "rouge_l": (
        "answers under its contexts have a ROUGE-L that is {size} {higher}",
        "the ROUGE-L of answers under their contexts",
    ),
    "answer_gain@claim": (
        "its contexts raise the log-probability of the gold answer by {size} nats a token {more}",
        "how far their contexts raise the log-probability of the gold answer",
    ),
    "policy_utility": ("it has a utility that is {size} {higher}", "utility"),
}
SIGNED = {True: {"more": "more", "higher": "higher"}, False: {"more": "less", "higher": "lower"}}
MAIN = ("cat1-4", "all")  # subsets of questions that a finding speaks of, the first that there is
PLAIN, CONTROL = (
    "lexical",
    "control",
)  # families: what is stood beside, and what is no ranking: gold, nothing, everything
AXES = ("ranker", "strongest")  # pairs that differ in who ranks alone
SIDE = {"system": "baseline", "scorer": "baseline_scorer", "baseline": "system", "baseline_scorer": "scorer"}
ROW = ["system", "scorer", "order", "answer_aware"]


@dataclass(frozen=True)
class Line:
    """A system's difference to the best plain row of its kind: of the same order, answer-awareness and form."""

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
    told: bool
    aware: bool
    top: str  # the row with the highest figure of all, plain ones too

    @property
    def sure(self) -> bool:
        """Whether the adjusted p says that they differ."""
        return self.told and self.p <= 0.05

    @property
    def interval(self) -> str:
        """The interval in words."""
        return bounds({"low": self.low, "high": self.high})

    @property
    def verdict(self) -> str:
        """Sure, not sure, or too few to tell."""
        return UNTOLD if not self.told else "sure" if self.sure else "not sure"


def stated(line: Line) -> dict[str, Any]:
    """A line as a row of a table, by heads; without its difference where that rests on too little."""
    return {
        "system": line.name,
        "less": line.baseline,
        "difference": f"{line.difference:+.3f}" if line.told else "",
        "interval": line.interval if line.told else "",
        "p": f"{line.p:.4f}" if line.told else "",
        "n": line.n,
        "units": line.units,
        "verdict": line.verdict,
    }


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
    for row in _both_ways(comparisons.filter(own & pl.col("axis").is_in(AXES))):
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


def _both_ways(pairs: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Each pair seen from both sides: which of two was listed first says nothing."""
    for row in pairs.iter_rows(named=True):
        yield row
        ends = {end: None if row[of] is None else -row[of] for end, of in (("low", "high"), ("high", "low"))}
        yield row | {new: row[old] for new, old in SIDE.items()} | ends | {"difference": -row["difference"]}


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
        told=enough(row["n"], row["units"], min_units),
        aware=row["answer_aware"],
        top=top,
    )


# --- in words ------------------------------------------------------------------------------------


def sentence(dataset: str, found: Sequence[Line], claimed: Sequence[int]) -> str:
    """The finding of a data set in plain words; where nothing is sure, that no difference can be told. claimed: the budgets
    of `@claim`; of answer gain others are stated by its own section.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.1, 0.05, 0.15, 0.01, 50, 20, 0.5, True, False, "beam")
    >>> sentence("toy", [line], [64, 512])
    'On toy, beam leads: the turns it chooses have an F1 that is .100 higher than the best plain ranking of its order and form, bm25 (+0.050 to +0.150; p 0.0100, adjusted over all pairs of this metric), over 50 questions in 20 units: sure.'
    """
    line = _chosen(found)
    if not line.told:
        return f"On {dataset}: {UNTOLD}, {_over(line)} are not enough for a finding."
    does, what = METRICS[line.metric]
    if not line.sure:
        name = line.name + "," * ("," in line.name)
        return (
            f"On {dataset}, no difference between {name} and {line.baseline}, the best plain ranking of its order and "
            f"form, can be told in {what}."
        )
    does = does.format(size=number(abs(line.difference)), **SIGNED[line.difference >= 0])
    ahead = "leads" if line.top == line.name else "is ahead of its plain twin"
    place = ahead if line.difference > 0 else "comes nearest to the plain rankings"
    return (
        f"On {dataset}, {line.name} {place}: {does} than the best plain ranking of its order and form, {line.baseline} "
        f"({line.interval}; {_p(line)}){_at(line, claimed)}, over {_over(line)}: {line.verdict}.{_highest(line)}"
    )


def small_print(found: Sequence[Line], claimed: Sequence[int]) -> str:
    """What a sentence without a difference rests on; nothing where the sentence says it, or where too little is there.

    >>> line = Line("beam", "graph", "bm25", "f1_at_gold", 0.02, -0.05, 0.09, 1, 50, 20, 0.5, True, False, "bm25")
    >>> small_print([line], [64, 512])
    'beam less bm25: +0.020 (-0.050 to +0.090; p 1.0000, adjusted over all pairs of this metric), over 50 questions in 20 units: not sure. The highest figure of all is that of bm25.'
    """
    line = _chosen(found)
    if line.sure or not line.told:
        return ""
    return (
        f"{line.name} less {line.baseline}: {line.difference:+.3f} ({line.interval}; {_p(line)}){_at(line, claimed)}, "
        f"over {_over(line)}: {line.verdict}.{_highest(line)}"
    )


def _p(line: Line) -> str:
    return f"p {line.p:.4f}, adjusted over all pairs of this metric"


def _at(line: Line, claimed: Sequence[int]) -> str:
    return f", at {min(claimed)} to {max(claimed)} tokens" if line.metric.endswith("recall@claim") else ""


def _over(line: Line) -> str:
    return sizes({"n": line.n, "units": line.units})


def _highest(line: Line) -> str:
    return "" if line.top == line.name else f" The highest figure of all is that of {line.top}."


def _chosen(found: Sequence[Line]) -> Line:
    """Of what does not see the answer and rests on enough: the highest figure of those that are surely ahead, else of all
    over as many questions."""
    free = [line for line in found if not line.aware] or list(found)
    told = [line for line in free if line.told] or free
    most = max(line.n for line in told)
    wide = [line for line in told if 2 * line.n >= most]
    surely = [line for line in wide if line.sure and line.difference > 0]
    return max(surely or wide, key=lambda line: line.value)


def findings(
    metrics: pl.DataFrame,
    comparisons: pl.DataFrame,
    families: Mapping[str, str],
    min_units: int,
    claimed: Sequence[int],
) -> Iterator[tuple[str, list[Line], str]]:
    """(data set, its lines, its sentence) of an experiment, those with lines; metrics and comparisons: whole tables."""
    own = metrics.filter(~pl.col("published"))
    for dataset in own["dataset"].unique(maintain_order=True):
        here = pl.col("dataset") == dataset
        found = lines(own.filter(here), comparisons.filter(here), families, min_units)
        if found:
            yield dataset, found, sentence(dataset, found, claimed)
