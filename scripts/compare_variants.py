"""Per-question figures of all variants to means with intervals and paired differences."""

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.compared import Measured, comparisons, labelled, leaders, means, measured
from secateur.evaluation.equal_quality import equal_quality
from secateur.evaluation.published import published
from secateur.stage.contract import main


def _warn(dataset: Measured, ctx) -> None:
    units = dataset.units
    if units.are_drafted:
        ctx.warn(
            f"{dataset.name}: all questions are drafted, by one rule, so they are one unit, without intervals or a verdict; these "
            "need questions that people ask"
        )
    if units.missing and units.documents:
        ctx.warn(
            f"{dataset.name}: questions are the units, since {units.documents} documents have questions with evidence; intervals "
            f"speak of these documents alone, and a verdict about documents needs {units.missing} more"
        )
    if repeated := units.table.height - units.table["first"].n_unique():
        ctx.warn(f"{dataset.name}: {repeated} questions repeat the text of another, and are averaged with it")


def _equal_quality(dataset: Measured, cfg) -> pl.DataFrame:
    whole = dataset.units.of(dataset.figures.filter(pl.col("hop").is_null()))
    variants = [v for v in cfg.extra.variants if v["dataset"] == dataset.name]
    reached = equal_quality(whole, variants, cfg.eval.reference, cfg.eval).with_columns(dataset=pl.lit(dataset.name))
    return reached.select(list(TABLES["equal_quality"].columns))


def run(cfg, inputs, outputs, ctx):
    paths = map(str, inputs.paths("question_metrics"))
    tables = dict(zip(paths, inputs.each("question_metrics"), strict=True))
    figures = labelled(cfg.extra.variants, tables, cfg.extra.prices, cfg.eval)
    asked = zip(cfg.extra.datasets, inputs.each("questions"), inputs.each("evidence"), strict=True)
    sets = [measured(spec, cfg.extra.variants, figures, *about, cfg.eval) for spec, *about in asked]
    for dataset in sets:
        _warn(dataset, ctx)
    compared, missing = comparisons(sets, cfg.extra.matched_baselines, cfg.extra.primary, cfg.eval)
    if missing:
        ctx.warn(f"primary family: {len(missing)} of its tests have no figures: {'; '.join(missing)}")
    stated = published(inputs.paths("published")[0], [dataset.name for dataset in sets])
    averages = means(sets)
    outputs["metrics"] = pl.concat([averages, stated.select(averages.columns)])
    outputs["equal_quality"] = pl.concat([_equal_quality(dataset, cfg) for dataset in sets])
    outputs["comparisons"], outputs["leaders"] = compared, leaders(sets, cfg.eval)
    return {"rows": averages.height, "differences": compared.height}


main(run, globals().get("snakemake"))
