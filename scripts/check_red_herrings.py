"""A language model's utilities on passages of known kind: what they rank, what they accept, what noise does to them."""

from pathlib import Path

import polars as pl

from secateur.ecs.names import ANSWER_AWARE, SCORER_NAMES
from secateur.ecs.reading.judge import JUDGES
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.scoring.distractors import RANDOM, acceptances, by_kind, pool, quantiles, rankings
from secateur.ecs.scoring.null import tau
from secateur.ecs.scoring.scorers import score
from secateur.models.causal import CausalLM
from secateur.models.reader import load
from secateur.pipeline.contract import main

READ = [
    name for name in SCORER_NAMES if name not in ("trajectory:ctx", "trajectory:base", "expected_shift")
]  # no generation


def run(cfg, inputs, outputs, ctx):
    lm = load(cfg.lm, ctx.cache, ctx.device)
    tables = measured(lm, cfg.ecs, inputs["questions"], inputs["passages"], ctx.cache, ctx.log)
    for name, frame in tables.items():
        outputs[name] = frame
    return {"pairs": tables["statistics"]["passage_id"].count()}


def measured(lm: CausalLM, cfg, questions: pl.DataFrame, passages: pl.DataFrame, cache: Path, log):
    """The tables of the stage by name. cfg: an `ecs` option; a passage's kind is its title."""
    counted = passages.with_columns(kind="title", tokens=pl.Series(lm.encoder.count(passages["text"].to_list())))
    pooled = pool(questions, counted, cfg.draws, cfg.seed)
    one = pl.lit("all").alias("group_id")  # a passage is read once for all questions that it is shown to
    asked, shown = questions.with_columns(one), passages.with_columns(one)
    table = pl.concat(statistics(lm, asked, shown, cfg, pooled, tuple(JUDGES), cache=cache, log=log))
    figures, spreads = zip(*(_of_scorer(cfg, table, pooled, name) for name in READ), strict=True)
    return {"statistics": table, "question_metrics": pl.concat(figures), "score_quantiles": pl.concat(spreads)}


def _of_scorer(cfg, table: pl.DataFrame, pooled: pl.DataFrame, name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(question_metrics, score_quantiles) of one scorer; no rows where it is undefined, as pmi_q is where the question
    stands first."""
    scores = by_kind(score(table, name, cfg.length_penalty), pooled).drop_nulls("value")
    chance = tau(scores.select("value", chance=pl.col("kind") == RANDOM), cfg.percentile)
    rows = pl.concat([rankings(scores), acceptances(scores, {"fixed": cfg.threshold, "null": chance})])
    known = {"scorer": pl.lit(name), "answer_aware": pl.lit(name in ANSWER_AWARE), "order": pl.lit(None, pl.String)}
    rows, spread = rows.with_columns(**known), quantiles(scores, cfg.quantiles).with_columns(**known)
    return (
        rows.select("question_id", "order", "scorer", "answer_aware", "metric", "value"),
        spread.select("scorer", "answer_aware", "kind", "at", "value", "n"),
    )


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
