"""The report's part on distractors: what each scorer ranks and accepts, and what random passages do to it."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.report.format import SEES, Part, dots, not_enough_data, pivoted
from secateur.report.plots.charts import spreads, trades
from secateur.report.plots.style import inline
from secateur.report.table import Column, Table

__all__ = ["ABOUT", "distractor_parts", "is_checked"]

CONTESTS = {
    "correct_over_counterfactual": "correct over counterfactual",
    "correct_over_irrelevant": "correct over irrelevant",
    "counterfactual_over_irrelevant": "counterfactual over irrelevant",
}
FIRST = "correct_over_counterfactual"  # the contest that orders scorers
KINDS = ("correct", "counterfactual", "irrelevant", "random")
THRESHOLDS = {
    "fixed": "above the paper's one threshold for all (ecs.threshold)",
    "null": "above a percentile of each score's random passages (ecs.percentile)",
}
RULES = "A rule (rankers.rules) accepts a passage if each of its scores is above its own threshold."
TRADED = ("counterfactual", "irrelevant")
DRAWN = 6  # scorers whose curves can be told apart
DIVERGENCES = ("kl_first", "kl_topk:paper", "js")  # scorers that theorem 1 speaks of
ABOUT = (
    "Each passage is read alone before its question. Counterfactual passages state a wrong answer in the form of the "
    "correct one. Irrelevant passages, the red herrings, are about the same scene but of no use. Random passages belong to "
    "other questions. This measures what a score can tell apart, not retrieval."
)


def is_checked(metrics: pl.DataFrame) -> bool:
    """Whether the rows of a data set come from the check."""
    return metrics["metric"].is_in(list(CONTESTS)).any()


def distractor_parts(
    dataset: str, metrics: pl.DataFrame, spread: pl.DataFrame, accepted: pl.DataFrame
) -> Iterator[Part]:
    """The parts of one data set; none where nothing was checked. Scorers that see the answer have parts of their own.

    metrics: its rows; spread, accepted: dataset, system and the columns of `score_quantiles` and of `acceptance`.
    """
    for system in metrics.filter(pl.col("metric").is_in(list(CONTESTS)))["system"].unique(maintain_order=True):
        place = {"dataset": dataset, "system": system}
        quantiles, shares, label = spread.filter(**place), accepted.filter(**place), f"{system} on {dataset}"
        yield _theorem(quantiles, f"divergences by kind, {label}")
        for aware, sees in SEES.items():
            rows = _by_first_contest(metrics.filter(system=system, answer_aware=aware))
            whole = rows.filter(subset="all")
            where = f"dataset = {dataset}, system = {system}, answer_aware = {aware}"
            note = f"n = {whole['n'].max()} questions, 95 % intervals. Rows: {where}, metric = "
            yield _ranked(whole, f"contests of kinds, {label}", sees, note)
            sizes = rows.filter(metric=FIRST).select("subset", "n").iter_rows()
            yield {
                "title": f"Correct over counterfactual, by subset of the questions, {sees}",
                "table": _table(rows.filter(metric=FIRST), {of: f"{of} (n {n})" for of, n in sizes}, "subset"),
                "note": f"{note}{FIRST}.",
            }
            for threshold, title in THRESHOLDS.items():
                yield {
                    "title": f"Share of passages {title}, {sees}",
                    "table": _table(whole, {f"accepts_{kind}@{threshold}": kind for kind in KINDS}),
                    "note": f"{note}accepts_*@{threshold}. {RULES}",
                }
            yield _traded(shares.filter(answer_aware=aware), whole, f"accepted by threshold, {label}", sees)
            noise = quantiles.filter(kind="random", answer_aware=aware)
            heads = {share: f"{100 * share:g} %" for share in noise["at"].unique().sort()}
            yield {
                "title": f"Quantiles of the scores of random passages, {sees}",
                "table": _table(noise, heads, "at", cell=lambda row: row["value"]),
                "note": f"n = {noise['n'].max()} pairs of a question with a passage of another one. "
                "Rows: score_quantiles.parquet, kind = random.",
            }


def _table(rows: pl.DataFrame, heads: Mapping[Any, str], key: str = "metric", **more: Any) -> Table:
    """A table with a row per scorer. heads: value of the key -> head of its column."""
    columns = {value: Column(head) for value, head in heads.items()}
    return pivoted(rows.drop("system"), columns, key, labels={"scorer": "scorer"}, **more)


def _by_first_contest(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, scorers in the order of how well they tell correct from counterfactual; then rules, which rank nothing."""
    first = rows.filter(metric=FIRST, subset="all").select("scorer", place="value")
    placed = rows.join(first, on="scorer", how="left", maintain_order="left")
    return placed.sort("place", "scorer", descending=[True, False], nulls_last=True, maintain_order=True)


def _ranked(rows: pl.DataFrame, label: str, sees: str, note: str) -> Part:
    heads = dict(list(CONTESTS.items())[:2])
    shown = rows.filter(pl.col("metric").is_in(list(heads))).sort("metric", maintain_order=True)
    shown = shown.with_columns(name="scorer", group=pl.col("metric").replace_strict(heads))
    families, xlabel = dict.fromkeys(shown["system"], "utility"), "share of pairs won, mean over questions"
    plot = dots(shown, families, label, xlabel, shown.height, reference=(0.5, "chance"))
    return {
        "title": f"How often one kind ranks above another, {sees}",
        "figures": plot.get("figures", []),
        "text": plot.get("text", ""),
        "table": _table(rows.filter(pl.col("metric").is_in(list(CONTESTS))), CONTESTS),
        "note": f"{note}*_over_*. Pairs of passages of one question; a tie counts a half.",
    }


def _traded(shares: pl.DataFrame, rows: pl.DataFrame, label: str, sees: str) -> Part:
    """The scorers that tell correct from counterfactual best, over all thresholds."""
    best = rows["scorer"].unique(maintain_order=True).head(DRAWN).to_list()
    shown = shares.filter(pl.col("scorer").is_in(best))
    shown = shown.sort(pl.col("scorer").replace_strict(best, range(len(best))), "at")
    drawn = shown.filter(pl.col("kind") != "random")
    few = not_enough_data(rows)
    return {
        "title": f"What each threshold lets in, {sees}",
        "figures": [] if few or drawn.is_empty() else [[inline(trades(drawn, KINDS[0], TRADED), label)]],
        "text": few,
        "note": "Share of the passages of a kind above each percentile of the scorer's random passages, mean over n = "
        f"{shown['n'].max()} questions; dashed: as much of either. Rows: acceptance.parquet.",
    }


def _theorem(quantiles: pl.DataFrame, label: str) -> Part:
    shown = quantiles.filter(pl.col("scorer").is_in(DIVERGENCES)).sort(
        pl.col("scorer").replace_strict(DIVERGENCES, range(len(DIVERGENCES))),
        pl.col("kind").replace_strict(KINDS, range(len(KINDS))),
    )
    counts = shown.unique("kind", maintain_order=True).select("n", "kind").iter_rows()
    return {
        "title": "Theorem 1, measured: how far passages of each kind move the prediction",
        "text": "The theorem says that an irrelevant passage moves the distribution of the answer by next to nothing.",
        "figures": [[inline(spreads(shown), label)]],
        "note": "Nats. Lines reach from a quantile (ecs.quantiles) to its mirror image; dot: median. n = "
        f"{', '.join(f'{n} {kind}' for n, kind in counts)} pairs. Rows: score_quantiles.parquet.",
    }
