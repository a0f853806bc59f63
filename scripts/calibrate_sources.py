"""Ranking scores to probabilities of being evidence; cross-fitted where the data set's own gold is used."""

import numpy as np
import polars as pl

from secateur.evaluation.folds import folds_of
from secateur.pipeline.contract import main
from secateur.pipeline.errors import SecateurError
from secateur.ranking.calibration import Ranked, cross_fitted, fit_calibration, probability


def _coefficients(cfg, inputs, ctx, ranked: dict[str, pl.DataFrame]) -> tuple[dict[str, tuple[float, ...]], dict]:
    """The coefficients for each question, and what the record keeps of the fit."""
    if not cfg.dataset.crossfit:
        return dict.fromkeys(ranked, cfg.retriever.calibration[ctx.axes["track"]]), {}
    gold = inputs["evidence"].drop_nulls("passage_id").group_by("question_id").agg("passage_id")
    gold_of = dict(gold.iter_rows())
    rows = [
        Ranked(part["score"].to_numpy().astype(float), part["passage_id"].is_in(gold_of.get(qid, [])).to_numpy())
        for qid, part in ranked.items()
    ]
    cluster = dict(inputs["questions"].select("question_id", "cluster_id").iter_rows())
    folds = folds_of([cluster[q] for q in ranked], list(ranked), cfg.eval.min_clusters, cfg.eval.folds)
    try:
        width = cfg.retriever.rank_width
        fitted, whole = cross_fitted(rows, folds, width), fit_calibration(rows, width)
    except ValueError as error:
        raise SecateurError(
            f"{ctx.axes['dataset']}: dataset.crossfit is true, but {error} in some fold ({len(rows)} questions). "
            "Fix: dataset.crossfit=false takes the coefficients of conf/retriever"
        ) from error
    names = ("fitted_slope", "fitted_intercept")
    return dict(zip(ranked, fitted, strict=True)), dict(zip(names, whole, strict=True))


def run(cfg, inputs, outputs, ctx):
    parts = inputs["ranked"].sort("question_id", "rank").partition_by("question_id", as_dict=True)
    ranked = {key[0]: part for key, part in parts.items()}
    coefficients, fit = _coefficients(cfg, inputs, ctx, ranked)
    values = [
        probability(part["score"].to_numpy().astype(float), coefficients[q], cfg.retriever.rank_width)
        for q, part in ranked.items()
    ]
    outputs["sources"] = pl.concat(ranked.values()).with_columns(p=pl.Series(np.concatenate(values), dtype=pl.Float64))
    return {"questions": len(ranked), "expected_evidence": float(np.concatenate(values).sum() / len(ranked))} | fit


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
