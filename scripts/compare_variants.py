"""Per-question figures of all variants to means with intervals and paired differences."""

from collections.abc import Iterator

import polars as pl

from secateur.core.tables.catalog import TABLES
from secateur.evaluation.comparison import OF_POLICY, Row, axes_of, claims, differences, pairs, summarise, to_best
from secateur.evaluation.equal_quality import equal_quality
from secateur.evaluation.primary import primary_family
from secateur.evaluation.published import published
from secateur.evaluation.rankings import POOL_RANDOM
from secateur.evaluation.subsets import MAIN, members, of_split, units_of
from secateur.evaluation.utility import utilities
from secateur.stage.contract import main


def _figures(cfg, inputs) -> pl.DataFrame:
    """The figures of all variants with their data set and system, their utilities, and means over the claimed budgets."""
    paths = map(str, inputs.paths("question_metrics"))
    tables = dict(zip(paths, inputs.each("question_metrics"), strict=True))
    labelled = [
        table.with_columns(dataset=pl.lit(v["dataset"]), system=pl.lit(v["system"]))
        for v in cfg.extra.variants
        for table in (tables[v["file"]], utilities(tables[v["file"]], v["budget"], cfg.extra.prices))
    ]
    figures = pl.concat(labelled)
    return pl.concat([figures, claims(figures, cfg.eval.claim, cfg.eval.gain_budgets)])


def _rows(cfg, figures: pl.DataFrame, dataset: str) -> list[Row]:
    """The rows of a data set with their axes, in the order of the experiment's systems."""
    variants = {(v["system"], v["order"]): v for v in cfg.extra.variants if v["dataset"] == dataset}
    rows = []
    keys = figures.select("system", "order", "scorer", "answer_aware").unique().sort("system", "order", "scorer")
    for system, order, scorer, aware in keys.iter_rows():
        variant = variants.get((system, order)) or variants[system, None]
        ranks = variant["ranks"] and scorer not in POOL_RANDOM
        rows.append(Row(system, order, scorer, aware, axes_of(variant, scorer), bool(variant["listed"]), ranks))
    places = {v["system"]: n for n, v in enumerate(cfg.extra.variants)}
    return sorted(rows, key=lambda row: places[row.system])


def _split(reported: str) -> pl.Expr:
    """The split that a row is measured on: test for a policy, whatever the data set reports for the rest."""
    return pl.when(OF_POLICY).then(pl.lit("test")).otherwise(pl.lit(reported))


def _subsets(figures: pl.DataFrame, questions: dict[str, set[str]]) -> Iterator[tuple[str, pl.DataFrame]]:
    """(subset, its figures), then (hop, figures of the evidence of that hop). questions: subset -> question ids."""
    whole = figures.filter(pl.col("hop").is_null()).drop("hop")
    for subset, ids in questions.items():
        yield subset, whole.filter(pl.col("question_id").is_in(list(ids)))
    for hop in figures["hop"].drop_nulls().unique().sort():
        yield hop, figures.filter(hop=hop).drop("hop")


def run(cfg, inputs, outputs, ctx):
    figures, metrics, comparisons, leaders, equal = _figures(cfg, inputs), [], [], [], []
    known = {"against": cfg.eval.against, "matched_baselines": cfg.extra.matched_baselines}
    main_parts = {}  # data set -> its figures on the main subset, the subset, the split
    tables = zip(inputs.each("questions"), inputs.each("evidence"), strict=True)
    for spec, (all_questions, evidence) in zip(cfg.extra.datasets, tables, strict=True):
        name, questions = spec["name"], of_split(all_questions, spec["split"])
        units = units_of(questions, evidence, max(cfg.eval.min_clusters, cfg.eval.min_units))
        own = figures.filter(dataset=name)
        rows = _rows(cfg, own, name)
        for subset, figures_of_subset in _subsets(own, members(questions, evidence, spec)):
            part = units.of(figures_of_subset)
            labels = {"dataset": pl.lit(name), "subset": pl.lit(subset), "split": _split(spec["split"])}
            metrics.append(summarise(part, cfg.eval).with_columns(**labels))
            paired = differences(part, rows, lambda r, means, _: pairs(r, means, **known), cfg.eval)
            comparisons.append(paired.with_columns(**labels))
            if subset in MAIN:
                # `all` comes first, and another main subset in its place.
                main_parts[name] = (part, subset, spec["split"])
                best = differences(part, rows, to_best, cfg.eval)
                leaders.append(best.with_columns(**labels))
        whole = units.of(own.filter(pl.col("hop").is_null()))
        variants = [v for v in cfg.extra.variants if v["dataset"] == name]
        reached = equal_quality(whole, variants, cfg.eval.reference, cfg.eval).with_columns(dataset=pl.lit(name))
        equal.append(reached.select(list(TABLES["equal_quality"].columns)))
        if units.missing and units.documents:
            ctx.warn(
                f"{name}: questions are the units, since {units.documents} documents have questions with evidence; intervals "
                f"speak of these documents alone, and a verdict about documents needs {units.missing} more"
            )
        if repeated := units.table.height - units.table["first"].n_unique():
            ctx.warn(f"{name}: {repeated} questions repeat the text of another, and are averaged with it")
    family, missing = primary_family(main_parts, cfg.extra.primary, cfg.eval)
    comparisons.append(family.select(comparisons[0].columns))
    if missing:
        ctx.warn(f"primary family: {len(missing)} of its tests have no figures: {'; '.join(missing)}")
    measured = pl.concat(metrics).with_columns(published=pl.lit(False))
    stated = published(inputs.paths("published")[0], [spec["name"] for spec in cfg.extra.datasets])
    outputs["metrics"] = pl.concat([measured.select(stated.columns), stated])
    outputs["equal_quality"] = pl.concat(equal)
    outputs["comparisons"], outputs["leaders"] = pl.concat(comparisons), pl.concat(leaders)
    return {"rows": sum(m.height for m in metrics), "differences": sum(c.height for c in comparisons)}


main(run, globals().get("snakemake"))
