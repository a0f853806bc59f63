"""Statistics and rankings to the scores of every scorer, and to what each selects."""

import polars as pl

from secateur.ecs.names import needed_features
from secateur.ecs.scoring.combine import answer_aware, calibrated, features, joined, scorable
from secateur.ecs.scoring.null import tau
from secateur.evaluation.folds import folds_of
from secateur.ranking.select import above, at_gold_size, ranked
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    own, made = cfg.rankers.scores, cfg.rankers.utilities
    questions, passages = inputs["questions"], inputs["passages"]
    gold = inputs["evidence"].drop_nulls("passage_id").select("question_id", "passage_id").unique()
    tables = (inputs["pool"], questions, passages, inputs["rankings"], inputs["statistics"])
    table = features(*tables, own, needed_features(own, made))
    ids, clusters = questions["question_id"].to_list(), questions["cluster_id"].to_list()
    folds = dict(zip(ids, folds_of(clusters, ids, cfg.eval.min_clusters, cfg.ecs.folds).tolist(), strict=True))
    scores, beyond, metrics = [], [], {}
    for name in (*own, *made):
        spec = made.get(name, {"kind": "score", "of": name})
        aware = answer_aware(spec["of"], own)
        label = {"scorer": pl.lit(name), "answer_aware": pl.lit(aware)}
        if spec["kind"] in ("sum", "fitted", "distilled"):
            values, weights = joined(table, spec, aware, gold, folds)
            metrics |= {f"weight {name} {feature}": round(w, 4) for feature, w in weights.items()}
        elif spec["kind"] == "score":
            values = scorable(table, aware).select("question_id", "passage_id", value=name)
        else:
            every = calibrated(table, spec["of"], cfg.ecs.draws)
            limit = tau(every, cfg.ecs.percentile)
            values = every.join(scorable(table, aware), on=["question_id", "passage_id"], how="semi")
            metrics[f"tau {name}"] = round(limit, 4)
        rows = values.select("question_id", "passage_id", "value").drop_nulls().with_columns(**label)
        if spec["kind"] == "threshold":
            beyond.append(above(rows, limit, passages))
        else:
            scores.append(rows)
    outputs["rankings"] = best = ranked(pl.concat(scores), passages)
    kept = [part.join(gold, on="question_id", how="semi") for part in beyond]
    outputs["selections"] = pl.concat([at_gold_size(best, inputs["evidence"]), *kept])
    return metrics | {"questions": best["question_id"].n_unique(), "scorers": len(own) + len(made)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
