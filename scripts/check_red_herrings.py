"""Check a language model's scores on passages of known kind: how they rank, what they accept, and their null."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.ecs.columns import COLUMNS, PROBES, TEXT
from secateur.ecs.reading.rivals import count_rivals
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.scoring.distractors import RANDOM, acceptances, by_kind, curve, pool, quantiles, rankings
from secateur.ecs.scoring.null import tau
from secateur.ecs.scoring.score import columns, score, sees_answer
from secateur.evaluation.rows import SCHEMA
from secateur.models.causal import CausalLM
from secateur.models.reader import load
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    lm = load(cfg.lm, ctx.cache, ctx.device)
    tables = stage_tables(lm, cfg.ecs, cfg.rankers.scores, inputs["questions"], inputs["passages"], ctx.cache, ctx.log)
    for name, table in tables.items():
        outputs[name] = table
    read = tables["statistics"].drop_nulls("passage_id")
    shown = read.join(inputs["questions"], on="question_id").join(inputs["passages"], on="passage_id", suffix="_shown")
    asked = shown.drop_nulls("rival_share") if "rival_share" in read.columns else shown.clear()
    return {"pairs": read.height, "rivals": count_rivals(asked.select("text", "answer", "text_shown").iter_rows())}


def stage_tables(
    lm: CausalLM, cfg, scores: Mapping[str, Any], questions: pl.DataFrame, passages: pl.DataFrame, cache: Path, log
) -> dict[str, pl.DataFrame]:
    """The output tables by name. A passage's title is its kind.

    cfg: an `ecs` option. scores: by name; those that need generated text or whole distributions as probes are left out.
    """
    counted = passages.with_columns(kind="title", tokens=pl.Series(lm.encoder.count(passages["text"].to_list())))
    pooled = pool(questions, counted, cfg.draws, cfg.seed)
    group = pl.lit("all").alias("group_id")  # in a common group, a passage is read once for all its questions
    read = {column for spec in scores.values() for column in columns(spec)}
    probes = [name for name in PROBES if name in read and COLUMNS[name].reply == TEXT]
    in_group = questions.with_columns(group), passages.with_columns(group)
    table = pl.concat(statistics(lm, *in_group, cfg, pooled, probes, cache=cache, log=log))
    values = {name: score(table, spec).drop_nulls("value") for name, spec in scores.items()}
    by_scorer = [
        _of_scorer(cfg, scored, pooled, name, sees_answer(scores[name]))
        for name, scored in values.items()
        if len(scored)
    ]
    names = ("question_metrics", "score_quantiles", "acceptance")
    return {"statistics": table} | {
        name: pl.concat(parts) for name, parts in zip(names, zip(*by_scorer, strict=True), strict=True)
    }


def _of_scorer(
    cfg, values: pl.DataFrame, pooled: pl.DataFrame, name: str, aware: bool
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(question_metrics, score_quantiles, acceptance) of one scorer."""
    scores = by_kind(values, pooled)
    null_threshold = tau(scores.select("value", chance=pl.col("kind") == RANDOM), cfg.percentile)
    metrics = pl.concat([rankings(scores), acceptances(scores, {"fixed": cfg.threshold, "null": null_threshold})])
    labels = {"scorer": pl.lit(name), "answer_aware": pl.lit(aware)}
    no_order = {"order": pl.lit(None, pl.String), "hop": pl.lit(None, pl.String)}
    return (
        metrics.with_columns(**labels, **no_order).select(list(SCHEMA)),
        quantiles(scores, cfg.quantiles).with_columns(**labels).select(*labels, "kind", "at", "value", "n"),
        curve(scores).with_columns(**labels).select(*labels, "kind", "at", "threshold", "value", "n"),
    )


main(run, globals().get("snakemake"))
