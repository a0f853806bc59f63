"""Means with intervals, and paired differences between rows, from per-question figures."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from secateur.evaluation.resampling import bootstrap, paired_test, units

__all__ = ["OF_POLICY", "claims", "compare", "compare_answers", "summarise"]

OF_POLICY = pl.col("metric").str.starts_with("policy_")  # rows of what a policy chose, or of what it has to beat
ANSWERED = (  # figures of answers
    *("rouge_l", "token_f1", "exact_match", "refused", "read_lift", "read_exact", "read_novel"),
    *("read_tokens", "completion_tokens"),
)
ROW = ["system", "track", "scorer", "answer_aware", "metric"]


def claims(figures: pl.DataFrame, budgets: Sequence[int]) -> pl.DataFrame:
    """Rows METRIC@claim: each question's mean of METRIC over the budgets; none where one of them is missing."""
    parts = figures.with_columns(
        pl.col("metric").str.split_exact("@", 1).struct.rename_fields(["base", "at"]).alias("m")
    )
    at = parts.unnest("m").filter(pl.col("at").is_in([str(b) for b in budgets]))
    row = [c for c in figures.columns if c not in ("metric", "value")]
    means = at.group_by(*row, "base", maintain_order=True).agg(pl.col("value").mean(), count=pl.len())
    whole = means.filter(pl.col("count") == len(budgets)).with_columns(metric=pl.col("base") + "@claim")
    return whole.select(figures.columns)


def _wide(part: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, np.ndarray]]:
    """Rows that share the same questions at once: (row names, questions, values (q, rows))."""
    keyed = part.with_columns(row=pl.concat_str([pl.col(c).cast(pl.String).fill_null("") for c in ROW], separator="\n"))
    sets = keyed.group_by("row").agg(same=pl.col("question_id").sort().str.join("\n"))
    for (_,), group in sets.sort("row").group_by("same", maintain_order=True):
        mine = keyed.join(group.select("row"), on="row").sort("row", "question_id")
        names = mine.select("row", *ROW).unique("row", maintain_order=True)
        questions = (
            mine.select("question_id", "cluster_id").unique("question_id", maintain_order=True).sort("question_id")
        )
        yield names, questions, mine["value"].to_numpy().reshape(names.height, questions.height).T


def summarise(part: pl.DataFrame, cfg) -> pl.DataFrame:
    """value, low, high, n of every row (system, track, scorer, metric) of one subset."""
    found = []
    for names, questions, values in _wide(part):
        unit = units(questions["cluster_id"].to_list(), cfg.min_clusters)
        low, high = bootstrap(values, unit, cfg.resamples, cfg.confidence, cfg.seed)
        if questions.height < 2:
            low = high = [None] * values.shape[1]
        columns = {"value": values.mean(0), "low": low, "high": high}
        found.append(
            names.drop("row").with_columns(
                n=pl.lit(questions.height, pl.Int32), **{k: pl.Series(v, dtype=pl.Float64) for k, v in columns.items()}
            )
        )
    return pl.concat(found) if found else pl.DataFrame(schema=_SUMMARY)


_NAMES = {"system": pl.String, "track": pl.String, "scorer": pl.String, "answer_aware": pl.Boolean, "metric": pl.String}
_SUMMARY = _NAMES | {"n": pl.Int32, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
_COMPARISON = (
    _NAMES
    | {"baseline": pl.String, "best": pl.Boolean, "n": pl.Int32}
    | dict.fromkeys(("difference", "low", "high", "p"), pl.Float64)
)


def _baseline(part: pl.DataFrame) -> str:
    """The sentence scorer with the best mean."""
    means = part.filter(pl.col("system") == "sentences").group_by("scorer").agg(pl.col("value").mean())
    return means.sort("value", "scorer", descending=[True, False])["scorer"][0] if means.height else ""


def compare(part: pl.DataFrame, cfg) -> pl.DataFrame:
    """Every row against the best sentence scorer of its track, answer-awareness and metric, and against those that
    `cfg.against` names (their +answer form where the row is answer-aware), paired by question.

    A policy is compared within its own variant: utilities under other options are in other units.
    """
    found, apart = [], pl.when(OF_POLICY).then("system").alias("apart")
    for (_, aware, _, _), group in part.group_by("track", "answer_aware", "metric", apart, maintain_order=True):
        best = _baseline(group)
        named = [name + "+answer" if aware else name for name in cfg.against]
        for baseline in dict.fromkeys([best, *named] if best else named):
            found += _against(group, baseline, baseline == best, cfg)
    return pl.concat(found) if found else pl.DataFrame(schema=_COMPARISON)


def compare_answers(part: pl.DataFrame, cfg) -> pl.DataFrame:
    """The figures of every system's answers against those of the systems that `cfg.answers_against` names, paired by
    question. Tracks are compared with each other: a system of path context has one row for both."""
    answered = part.filter(pl.col("metric").is_in(ANSWERED))
    found = []
    for baseline in cfg.answers_against:
        for (_,), group in answered.group_by("metric", maintain_order=True):
            found += _paired(group, pl.col("system") == baseline, baseline, False, cfg)
    return pl.concat(found) if found else pl.DataFrame(schema=_COMPARISON)


def _against(group: pl.DataFrame, baseline: str, best: bool, cfg) -> list[pl.DataFrame]:
    """The rows of one metric against one sentence scorer or choice of configurations; nothing where it has no row."""
    ours = (OF_POLICY | (pl.col("system") == "sentences")) & (pl.col("scorer") == baseline)
    return _paired(group, ours.fill_null(False), baseline, best, cfg)


def _paired(group: pl.DataFrame, ours: pl.Expr, baseline: str, best: bool, cfg) -> list[pl.DataFrame]:
    """The rows of one metric against those that `ours` is true for, paired by question."""
    found, reference, others = [], group.filter(ours), group.filter(~ours)
    if reference.height and others.height:
        paired = others.join(reference.select("question_id", base="value"), on="question_id")
        differences = paired.with_columns(value=pl.col("value") - pl.col("base"))
        for names, questions, values in _wide(differences):
            unit = units(questions["cluster_id"].to_list(), cfg.min_clusters)
            low, high = bootstrap(values, unit, cfg.resamples, cfg.confidence, cfg.seed)
            p = paired_test(values, unit, cfg.permutations, cfg.seed)
            series = {"difference": values.mean(0), "low": low, "high": high, "p": p}
            found.append(
                names.drop("row").with_columns(
                    baseline=pl.lit(baseline),
                    best=pl.lit(best),
                    n=pl.lit(questions.height, pl.Int32),
                    **{k: pl.Series(v, dtype=pl.Float64) for k, v in series.items()},
                )
            )
    return found
