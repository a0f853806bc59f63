"""Compute the score of every scorer from statistics and rankings, and the passages that each selects."""

import polars as pl

from secateur.ecs.names import needed_features
from secateur.ecs.scoring.combine import answer_aware, calibrated, features, joined, scorable
from secateur.ecs.scoring.null import tau
from secateur.evaluation.folds import folds_of
from secateur.ranking.select import above, at_gold_size, ranked
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    scores, utilities = cfg.rankers.scores, cfg.rankers.utilities
    questions, passages = inputs["questions"], inputs["passages"]
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    tables = (inputs["pool"], questions, passages, inputs["rankings"], inputs["statistics"])
    table = features(*tables, scores, needed_features(scores, utilities))
    ids, clusters = questions["question_id"].to_list(), questions["cluster_id"].to_list()
    folds = dict(zip(ids, folds_of(clusters, ids, cfg.eval.min_clusters, cfg.ecs.folds).tolist(), strict=True))
    values, selections, metrics = [], [], {}
    for name in (*scores, *utilities):
        spec = utilities.get(name, {"kind": "score", "of": name})
        aware = answer_aware(spec["of"], scores)
        if spec["kind"] in ("sum", "fitted", "distilled"):
            scored, weights = joined(table, spec, aware, gold, folds)
            metrics |= {f"weight {name} {feature}": round(w, 4) for feature, w in weights.items()}
        elif spec["kind"] == "score":
            scored = scorable(table, aware).select("question_id", "passage_id", value=name)
        else:
            z_scores = calibrated(table, spec["of"], cfg.ecs.draws)
            limit = tau(z_scores, cfg.ecs.percentile)
            scored = z_scores.join(scorable(table, aware), on=["question_id", "passage_id"], how="semi")
            metrics[f"tau {name}"] = round(limit, 4)
        rows = scored.select("question_id", "passage_id", "value").drop_nulls()
        rows = rows.with_columns(scorer=pl.lit(name), answer_aware=pl.lit(aware))
        if spec["kind"] == "threshold":
            selections.append(above(rows, limit, passages))
        else:
            values.append(rows)
    outputs["rankings"] = rankings = ranked(pl.concat(values), passages)
    with_gold = [selection.join(gold, on="question_id", how="semi") for selection in selections]
    outputs["selections"] = pl.concat([at_gold_size(rankings, inputs["evidence"]), *with_gold])
    return metrics | {"questions": rankings["question_id"].n_unique(), "scorers": len(scores) + len(utilities)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
