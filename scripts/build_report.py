"""Tables to one page."""

import polars as pl

from secateur.evaluation.published import published_statistics
from secateur.pipeline.contract import main
from secateur.pipeline.tables.catalog import TABLES
from secateur.report.page import Figures, render


def _drawings(cfg, inputs) -> list[dict]:
    """The sampled questions and their edges, by the variant they speak of."""
    tables = zip(*(inputs.each(name) if cfg.extra.drawn else [] for name in ("samples", "subgraphs")), strict=True)
    return [
        row | {"samples": samples, "subgraphs": edges}
        for row, (samples, edges) in zip(cfg.extra.drawn, tables, strict=True)
    ]


def _measures(cfg, inputs) -> pl.DataFrame:
    """The measured lemmas of all graphs, with what each of them speaks of."""
    frames = inputs.each("graph_measures") if cfg.extra.measured else []
    keys = ("corpus", "dataset", "system", "order")
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in keys})
        for row, frame in zip(cfg.extra.measured, frames, strict=True)
    ]
    empty = TABLES["graph_measures"].empty().with_columns(**{key: pl.lit("") for key in keys})
    return pl.concat([empty, *named])


def _statistics(cfg, inputs) -> pl.DataFrame:
    """The statistics of all data sets, with their names."""
    frames = zip(cfg.extra.described, inputs.each("dataset_statistics"), strict=True)
    return pl.concat([frame.with_columns(dataset=pl.lit(row["dataset"])) for row, frame in frames])


def _frontiers(cfg, inputs) -> pl.DataFrame:
    """The frontiers of all policies, with what each of them speaks of."""
    frames, keys = inputs.each("frontier") if cfg.extra.learnt else [], ("dataset", "system", "order")
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in keys})
        for row, frame in zip(cfg.extra.learnt, frames, strict=True)
    ]
    return pl.concat([TABLES["frontier"].empty().with_columns(**{key: pl.lit("") for key in keys}), *named])


def _spreads(cfg, inputs) -> pl.DataFrame:
    """The distributions of scores over passages of known kind, with their data set and system."""
    frames = inputs.each("score_quantiles") if cfg.extra.checked else []
    named = [
        frame.with_columns(**{key: pl.lit(row[key]) for key in ("dataset", "system")})
        for row, frame in zip(cfg.extra.checked, frames, strict=True)
    ]
    return pl.concat([TABLES["score_quantiles"].empty().with_columns(dataset=pl.lit(""), system=pl.lit("")), *named])


def _peers(cfg, inputs) -> list[dict]:
    """What each peer cost, and how it took the questions, with what that speaks of."""
    tables = zip(*(inputs.each(name) if cfg.extra.peers else [] for name in ("peer_costs", "peer_asked")), strict=True)
    found = zip(cfg.extra.peers, tables, strict=True)
    return [row | {"indexed": costs.to_dicts()[0], "asked": asked.to_dicts()[0]} for row, (costs, asked) in found]


def run(cfg, inputs, outputs, ctx):
    described = [row["dataset"] for row in cfg.extra.described]
    figures = Figures(
        metrics=inputs["metrics"],
        comparisons=inputs["comparisons"],
        drawings=_drawings(cfg, inputs),
        measures=_measures(cfg, inputs),
        statistics=_statistics(cfg, inputs),
        stated=published_statistics(inputs.paths("published")[0], described),
        spreads=_spreads(cfg, inputs),
        frontiers=_frontiers(cfg, inputs),
        peers=_peers(cfg, inputs),
    )
    page = render(cfg.extra.name, cfg.experiment.title, cfg.eval.min_units, cfg.extra.variants, figures)
    outputs.path("report").write_text(page, encoding="utf-8")
    return {"bytes": len(page.encode())}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
