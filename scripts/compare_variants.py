"""Per-question figures of all variants to means, intervals and paired differences."""

from collections.abc import Iterator

import polars as pl

from secateur.evaluation.comparison import OF_POLICY, Row, axes_of, claims, differences, summarise
from secateur.evaluation.metric import headlines
from secateur.evaluation.published import published
from secateur.evaluation.subsets import members, of_split
from secateur.stage.contract import main


def _figures(cfg, inputs) -> pl.DataFrame:
    frames = inputs.each("question_metrics")
    by_file = dict(zip((str(p) for p in inputs.paths("question_metrics")), frames, strict=True))
    named = [
        by_file[v["file"]].with_columns(dataset=pl.lit(v["dataset"]), system=pl.lit(v["system"]))
        for v in cfg.extra.variants
    ]
    figures = pl.concat(named)
    return pl.concat([figures, claims(figures, cfg.eval.claim, cfg.eval.gain_budgets)])


def _rows(cfg, own: pl.DataFrame, dataset: str) -> list[Row]:
    """The rows of a data set with their axes."""
    axes = {(v["system"], v["order"]): v for v in cfg.extra.variants if v["dataset"] == dataset}
    found = []
    for system, order, scorer, aware in (
        own.select("system", "order", "scorer", "answer_aware").unique().sort("system", "order", "scorer").iter_rows()
    ):
        variant = axes.get((system, order)) or axes[system, None]
        found.append(Row(system, order, scorer, aware, axes_of(variant, scorer), bool(variant["listed"])))
    places = {v["system"]: n for n, v in enumerate(cfg.extra.variants)}
    return sorted(found, key=lambda row: places[row.system])


def _split(reported: str) -> pl.Expr:
    """The split a row speaks of: a policy's is always test, whatever a data set reports of the rest."""
    return pl.when(OF_POLICY).then(pl.lit("test")).otherwise(pl.lit(reported))


def _subsets(own: pl.DataFrame, found: dict[str, set[str]]) -> Iterator[tuple[str, pl.DataFrame]]:
    """(name, its figures): of questions by subset, then of the evidence of each hop."""
    whole = own.filter(pl.col("hop").is_null()).drop("hop")
    yield from ((subset, whole.filter(pl.col("question_id").is_in(list(ids)))) for subset, ids in found.items())
    for hop in own["hop"].drop_nulls().unique().sort():
        yield hop, own.filter(pl.col("hop") == hop).drop("hop")


def run(cfg, inputs, outputs, ctx):
    figures, metrics, comparisons = _figures(cfg, inputs), [], []
    tables = zip(inputs.each("questions"), inputs.each("evidence"), strict=True)
    for spec, (questions, evidence) in zip(cfg.extra.datasets, tables, strict=True):
        name = spec["name"]
        chosen = of_split(questions, spec["split"])
        own = figures.filter(pl.col("dataset") == name).join(
            chosen.select("question_id", "cluster_id"), on="question_id"
        )
        rows, shown = _rows(cfg, own, name), headlines([*cfg.eval.metrics, *spec["metrics"]])
        for subset, part in _subsets(own, members(chosen, evidence, spec)):
            extra = {"dataset": pl.lit(name), "subset": pl.lit(subset), "split": _split(spec["split"])}
            metrics.append(summarise(part, cfg.eval).with_columns(**extra))
            made = differences(part, rows, shown, cfg.eval.against, cfg.extra.matched_baselines, cfg.eval)
            comparisons.append(made.with_columns(**extra))
        clusters = chosen["cluster_id"].n_unique()
        if clusters < cfg.eval.min_clusters:
            ctx.warn(f"{name}: {clusters} clusters; intervals resample questions instead")
    computed = pl.concat(metrics).with_columns(published=pl.lit(False))
    names = [spec["name"] for spec in cfg.extra.datasets]
    stated = published(inputs.paths("published")[0], names)
    outputs["metrics"] = pl.concat([computed.select(stated.columns), stated])
    outputs["comparisons"] = pl.concat(comparisons)
    return {"rows": sum(m.height for m in metrics), "differences": sum(c.height for c in comparisons)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
