"""Check a language model's scores on passages of known kind: how they rank, what they accept, and their null."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.ecs.columns import COLUMNS, PROBES, TEXT
from secateur.ecs.reading.rivals import count_rivals
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.scoring.distractors import RANDOM, acceptances, by_kind, curve, pool, quantiles, rankings
from secateur.ecs.scoring.null import tau
from secateur.ecs.scoring.score import columns, expression, sees_answer, with_base
from secateur.evaluation.rows import SCHEMA
from secateur.models.causal import CausalLM
from secateur.models.reader import load
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    lm = load(cfg.lm, ctx.cache, ctx.device)
    tables = stage_tables(lm, cfg.ecs, cfg.rankers, inputs["questions"], inputs["passages"], ctx.cache, ctx.log)
    for name, table in tables.items():
        outputs[name] = table
    read = tables["statistics"].drop_nulls("passage_id")
    shown = read.join(inputs["questions"], on="question_id").join(inputs["passages"], on="passage_id", suffix="_shown")
    asked = shown.drop_nulls("rival_share") if "rival_share" in read.columns else shown.clear()
    return {"pairs": read.height, "rivals": count_rivals(asked.select("text", "answer", "text_shown").iter_rows())}


def stage_tables(
    lm: CausalLM, cfg, rankers, questions: pl.DataFrame, passages: pl.DataFrame, cache: Path, log
) -> dict[str, pl.DataFrame]:
    """The output tables by name. A passage's title is its kind.

    cfg: an `ecs` option. rankers: its scores and rules; scores that need generated text or whole distributions as probes are
    left out.
    """
    counted = passages.with_columns(kind="title", tokens=pl.Series(lm.encoder.count(passages["text"].to_list())))
    pooled = pool(questions, counted, cfg.draws, cfg.seed)
    group = pl.lit("all").alias("group_id")  # in a common group, a passage is read once for all its questions
    read = {column for spec in rankers.scores.values() for column in columns(spec)}
    probes = [name for name in PROBES if name in read and COLUMNS[name].reply == TEXT]
    in_group = questions.with_columns(group), passages.with_columns(group)
    table = pl.concat(statistics(lm, *in_group, cfg, pooled, probes, cache=cache, log=log))
    expressions = {name: expression(spec) for name, spec in rankers.scores.items()}
    scores = by_kind(with_base(table).select("question_id", "passage_id", **expressions), pooled)
    metrics, spread, curves = [], [], []
    for name, of in ({name: (name,) for name in expressions} | rankers.rules).items():
        aware = any(sees_answer(rankers.scores[score]) for score in of)
        labels = {"scorer": pl.lit(name), "answer_aware": pl.lit(aware)}
        metrics.append(_accepted(cfg, scores, of).with_columns(**labels))
        if name in expressions:  # a rule has no value to rank by
            values = scores.select("question_id", "kind", value=name).drop_nulls("value")
            metrics.append(rankings(values).with_columns(**labels))
            spread.append(quantiles(values, cfg.quantiles).with_columns(**labels))
            curves.append(curve(values).with_columns(**labels))
    no_order = {"order": pl.lit(None, pl.String), "hop": pl.lit(None, pl.String)}
    return {
        "statistics": table,
        "question_metrics": pl.concat(metrics).with_columns(**no_order).select(list(SCHEMA)),
        "score_quantiles": pl.concat(spread).select(list(TABLES["score_quantiles"].columns)),
        "acceptance": pl.concat(curves).select(list(TABLES["acceptance"].columns)),
    }


def _accepted(cfg, scores: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """What a rule of some scores accepts, with one threshold for all and with each score's own from random passages."""
    chance = pl.col("kind") == RANDOM
    nulls = {name: tau(scores.select(value=name, chance=chance), cfg.percentile) for name in names}
    return acceptances(scores, {"fixed": dict.fromkeys(names, cfg.threshold), "null": nulls})


main(run, globals().get("snakemake"))
