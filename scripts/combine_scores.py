"""Compute the score of every scorer from statistics and rankings, and the passages that each selects.

With `rankers.fitted_on` every input has further tables: those of the other data sets, in the same order.
"""

import polars as pl

from secateur.ecs.names import OTHER_SETS, needed_features
from secateur.ecs.scoring.combine import answer_aware, calibrated, features, joined, scorable, transferred
from secateur.ecs.scoring.null import tau
from secateur.evaluation.folds import folds_of
from secateur.ranking.select import above, at_gold_size, ranked
from secateur.stage.contract import main

READ = ("pool", "questions", "passages", "rankings")


def _sets(inputs, rankers) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """(features, gold) of the data set itself, then of those that its weights are fitted on too."""
    statistics = list(inputs.each("statistics"))
    tables = zip(*map(inputs.each, READ), strict=True)
    names, sets = needed_features(rankers.scores, rankers.utilities), []
    for n, (read, evidence) in enumerate(zip(tables, inputs.each("evidence"), strict=True)):
        shards = len(statistics) // len(inputs.paths("pool"))
        of_set = pl.concat(statistics[n * shards : (n + 1) * shards])
        gold = evidence.drop_nulls("passage_id").select("question_id", "passage_id").unique()
        sets.append((features(*read, of_set, rankers.scores, names), gold))
    return sets


def run(cfg, inputs, outputs, ctx):
    scores, utilities = cfg.rankers.scores, cfg.rankers.utilities
    questions, passages, evidence = (next(iter(inputs.each(name))) for name in ("questions", "passages", "evidence"))
    sets = _sets(inputs, cfg.rankers)
    (table, gold), *others = sets
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
        labels = {"scorer": pl.lit(name), "answer_aware": pl.lit(aware)}
        rows = scored.select("question_id", "passage_id", "value").drop_nulls().with_columns(**labels)
        if spec["kind"] == "threshold":
            selections.append(above(rows, limit, passages))
        else:
            values.append(rows)
        if spec["kind"] == "fitted" and others:
            scored, weights = transferred(table, spec, aware, others)
            metrics |= {f"weight {name}{OTHER_SETS} {feature}": round(w, 4) for feature, w in weights.items()}
            values.append(scored.with_columns(**labels | {"scorer": pl.lit(name + OTHER_SETS)}))
    outputs["rankings"] = rankings = ranked(pl.concat(values), passages)
    with_gold = [selection.join(gold, on="question_id", how="semi") for selection in selections]
    outputs["selections"] = pl.concat([at_gold_size(rankings, evidence), *with_gold])
    return metrics | {"questions": rankings["question_id"].n_unique(), "scorers": len(scores) + len(utilities)}


main(run, globals().get("snakemake"))
