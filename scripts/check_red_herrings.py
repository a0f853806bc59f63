"""A language model's utilities on passages of known kind: what they rank, what they accept, what noise does to them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.ecs.columns import COLUMNS, PROBES, TEXT
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
    tables = measured(lm, cfg.ecs, cfg.rankers.scores, inputs["questions"], inputs["passages"], ctx.cache, ctx.log)
    for name, frame in tables.items():
        outputs[name] = frame
    return {"pairs": tables["statistics"]["passage_id"].count()}


def measured(
    lm: CausalLM, cfg, scores: Mapping[str, Any], questions: pl.DataFrame, passages: pl.DataFrame, cache: Path, log
):
    """The tables of the stage by name. cfg: an `ecs` option; scores: those under a model, without the ones that need what
    is generated; a passage's kind is its title."""
    counted = passages.with_columns(kind="title", tokens=pl.Series(lm.encoder.count(passages["text"].to_list())))
    pooled = pool(questions, counted, cfg.draws, cfg.seed)
    one = pl.lit("all").alias("group_id")  # a passage is read once for all questions that it is shown to
    asked, shown = questions.with_columns(one), passages.with_columns(one)
    read = {column for spec in scores.values() for column in columns(spec)}
    probes = [
        name for name in PROBES if name in read and COLUMNS[name].reply == TEXT
    ]  # the others need what is generated
    table = pl.concat(statistics(lm, asked, shown, cfg, pooled, probes, cache=cache, log=log))
    known = {name: score(table, spec).drop_nulls("value") for name, spec in scores.items()}
    rows = [
        _of_scorer(cfg, values, pooled, name, sees_answer(scores[name]))
        for name, values in known.items()
        if len(values)
    ]
    names = ("question_metrics", "score_quantiles", "acceptance")
    return {"statistics": table} | {
        name: pl.concat(own) for name, own in zip(names, zip(*rows, strict=True), strict=True)
    }


def _of_scorer(
    cfg, values: pl.DataFrame, pooled: pl.DataFrame, name: str, aware: bool
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(question_metrics, score_quantiles, acceptance) of one scorer."""
    scores = by_kind(values, pooled)
    chance = tau(scores.select("value", chance=pl.col("kind") == RANDOM), cfg.percentile)
    rows = pl.concat([rankings(scores), acceptances(scores, {"fixed": cfg.threshold, "null": chance})])
    known = {
        "scorer": pl.lit(name),
        "answer_aware": pl.lit(aware),
        "order": pl.lit(None, pl.String),
        "hop": pl.lit(None, pl.String),
    }
    rows, spread, passed = (
        part.with_columns(**known) for part in (rows, quantiles(scores, cfg.quantiles), curve(scores))
    )
    return (
        rows.select(list(SCHEMA)),
        spread.select("scorer", "answer_aware", "kind", "at", "value", "n"),
        passed.select("scorer", "answer_aware", "kind", "at", "threshold", "value", "n"),
    )


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
