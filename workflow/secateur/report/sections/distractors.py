"""The report's section on distractors: what each scorer ranks and accepts, and what random passages do to it."""

from typing import Any

import polars as pl

from secateur.report.format import dots, not_enough_data, pivoted
from secateur.report.plots.charts import spreads, trades
from secateur.report.plots.style import inline
from secateur.report.table import Column, Table

__all__ = ["ABOUT", "distractor_parts", "is_checked"]

CONTESTS = {
    "correct_over_counterfactual": "correct over counterfactual",
    "correct_over_irrelevant": "correct over irrelevant",
    "counterfactual_over_irrelevant": "counterfactual over irrelevant",
}
KINDS = ("correct", "counterfactual", "irrelevant", "random")
THRESHOLDS = {
    "fixed": "above the paper's one threshold for all (ecs.threshold)",
    "null": "above a percentile of the scorer's random passages (ecs.percentile)",
}
TRADED = ("counterfactual", "irrelevant")
DRAWN = 6  # scorers whose curves are distinct enough
DIVERGENCES = ("kl_first", "kl_topk:paper", "js")  # what theorem 1 speaks of
SEES = {False: "answer-free", True: "answer-aware (the scorer sees the gold answer)"}
ABOUT = (
    "Each passage is read alone before its question. Counterfactual passages state a wrong answer in the form of the "
    "correct one; irrelevant ones, the red herrings, are about the same scene but of no use; random ones belong to other "
    "questions. Nothing here ranks retrieval: it says what a score can tell apart."
)
Part = dict[str, Any]


def is_checked(metrics: pl.DataFrame) -> bool:
    """Whether a data set's rows come from the check."""
    return metrics["metric"].is_in(list(CONTESTS)).any()


def _table(rows: pl.DataFrame, metrics: dict[str, str]) -> Table:
    """One row a scorer, one column a metric. metrics: name in the table -> head."""
    return _of(rows, {metric: Column(head) for metric, head in metrics.items()}, "metric")


def _of(rows: pl.DataFrame, columns: dict[Any, Column], key: str, **more: Any) -> Table:
    """One row a scorer."""
    return pivoted(rows.drop("system"), columns, key, name="scorer", head="scorer", **more)


def _quantile_table(rows: pl.DataFrame) -> Table:
    columns = {share: Column(f"{100 * share:g} %") for share in rows["at"].unique().sort()}
    return _of(rows, columns, "at", cell=lambda row: row["value"] if row else None)


def _by_first_contest(own: pl.DataFrame) -> pl.DataFrame:
    """The rows, scorers in the order of how well they tell correct from counterfactual."""
    whole = (pl.col("metric") == next(iter(CONTESTS))) & (pl.col("subset") == "all")
    first = own.filter(whole).select("scorer", place="value")
    return own.join(first, on="scorer").sort("place", "scorer", descending=[True, False], maintain_order=True)


def _ranked(own: pl.DataFrame, label: str, sees: str, note: str) -> Part:
    drawn = dict(list(CONTESTS.items())[:2])
    rows = own.filter(pl.col("metric").is_in(list(drawn))).with_columns(name="scorer")
    rows = rows.with_columns(group=pl.col("metric").replace_strict(drawn)).sort("metric", maintain_order=True)
    families, xlabel = dict.fromkeys(rows["system"], "utility"), "share of pairs won, mean over questions"
    plot = dots(rows, families, label, xlabel, rows.height, reference=(0.5, "chance"))
    return {
        "title": f"How often one kind ranks above another, {sees}",
        "figures": plot.get("figures", []),
        "text": plot.get("text", ""),
        "form": "bars",
        "table": _table(own, CONTESTS),
        "note": f"{note}*_over_*. Pairs of passages of one question; a tie counts a half.",
    }


def _by_subset(own: pl.DataFrame, sees: str, note: str) -> Part:
    """The first contest, one column a subset of the questions."""
    contest, said = next(iter(CONTESTS.items()))
    rows = own.filter(pl.col("metric") == contest).with_columns(metric="subset")
    sizes = dict(rows.select("subset", "n").iter_rows())
    return {
        "title": f"{said.capitalize()}, by subset of the questions, {sees}",
        "table": _table(rows, {subset: f"{subset} (n {n})" for subset, n in sizes.items()}),
        "note": f"{note}{contest}.",
    }


def _accepted(own: pl.DataFrame, threshold: str, sees: str, note: str) -> Part:
    return {
        "title": f"Share of passages {THRESHOLDS[threshold]}, {sees}",
        "table": _table(own, {f"accepts_{kind}@{threshold}": kind for kind in KINDS}),
        "note": f"{note}accepts_*@{threshold}.",
    }


def _traded(passed: pl.DataFrame, own: pl.DataFrame, label: str, sees: str) -> Part:
    """The scorers that tell correct from counterfactual best, over all thresholds."""
    best = own["scorer"].unique(maintain_order=True).head(DRAWN).to_list()
    shown = passed.filter(pl.col("scorer").is_in(best)).sort(
        pl.col("scorer").replace_strict(best, range(len(best))), "at"
    )
    drawn, few = shown.filter(pl.col("kind") != KINDS[-1]), not_enough_data(own)
    return {
        "title": f"What each threshold lets in, {sees}",
        "figures": [] if few or drawn.is_empty() else [[inline(trades(drawn, KINDS[0], TRADED), label)]],
        "text": few,
        "form": "curves",
        "note": f"Share of the passages of a kind above each percentile of the scorer's random passages, mean over n = "
        f"{shown['n'].max()} questions; dashed: as much of either. Rows: acceptance.parquet.",
    }


def _noise(spread: pl.DataFrame, sees: str) -> Part:
    own = spread.filter(pl.col("kind") == "random")
    return {
        "title": f"Quantiles of the scores of random passages, {sees}",
        "table": _quantile_table(own),
        "note": f"n = {own['n'].max()} pairs of a question with a passage of another one. "
        "Rows: score_quantiles.parquet, kind = random.",
    }


def _theorem(spread: pl.DataFrame, label: str) -> Part:
    shown = spread.filter(pl.col("scorer").is_in(DIVERGENCES)).sort(
        pl.col("scorer").replace_strict(DIVERGENCES, range(len(DIVERGENCES))),
        pl.col("kind").replace_strict(KINDS, range(len(KINDS))),
    )
    counts = shown.unique("kind", maintain_order=True).select("n", "kind").iter_rows()
    return {
        "title": "Theorem 1, measured: how far passages of each kind move the prediction",
        "text": "The theorem says that an irrelevant passage moves the distribution of the answer by next to nothing.",
        "figures": [[inline(spreads(shown), label)]],
        "form": "curves",
        "note": "Nats. Lines reach from a quantile (ecs.quantiles) to its mirror image; dot: median. n = "
        f"{', '.join(f'{n} {kind}' for n, kind in counts)} pairs. Rows: score_quantiles.parquet.",
    }


def _checked(own: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """The systems that were checked, each with its rows."""
    systems = own.filter(pl.col("metric").is_in(list(CONTESTS)))["system"].unique(maintain_order=True)
    return [(system, own.filter(pl.col("system") == system)) for system in systems]


def distractor_parts(name: str, own: pl.DataFrame, spreads: pl.DataFrame, accepted: pl.DataFrame) -> list[Part]:
    """The parts of one data set; none where nothing was checked. own: its rows of metrics; spreads, accepted: dataset,
    system and the columns of score_quantiles, of acceptance. Scorers that see the answer have parts of their own."""
    parts = []
    for system, rows in _checked(own):
        here, label = (pl.col("dataset") == name) & (pl.col("system") == system), f"{system} on {name}"
        spread, passed = spreads.filter(here), accepted.filter(here)
        parts.append(_theorem(spread, f"divergences by kind, {label}"))
        for aware, sees in SEES.items():
            same = pl.col("answer_aware") == aware
            part = _by_first_contest(rows.filter(same))
            every = part.filter(pl.col("subset") == "all")
            where = f"dataset = {name}, system = {system}, answer_aware = {str(aware).lower()}"
            note = f"n = {every['n'].max()} questions, 95 % intervals. Rows: {where}, metric = "
            parts.append(_ranked(every, f"contests of kinds, {label}", sees, note))
            parts.append(_by_subset(part, sees, note))
            parts += [_accepted(every, threshold, sees, note) for threshold in THRESHOLDS]
            parts.append(_traded(passed.filter(same), every, f"accepted by threshold, {label}", sees))
            parts.append(_noise(spread.filter(same), sees))
    return parts
