"""Tables to one page."""

import polars as pl

from secateur.report import render


def _costs(cfg, inputs) -> pl.DataFrame:
    """Mean tokens by encoding of every graph variant."""
    schema = {"dataset": pl.String, "name": pl.String, "encoding": pl.String, "tokens": pl.Float64, "n": pl.UInt32}
    graph = [v for v in cfg.extra.variants if v["path"] == "graph"]
    found = [pl.DataFrame(schema=schema)]
    for variant, prompts in zip(graph, inputs.each("prompts") if graph else [], strict=True):
        means = prompts.group_by("encoding").agg(pl.col("tokens").mean(), n=pl.len()).sort("encoding")
        label = f"{variant['system']} · {variant['track']}"
        found.append(
            means.with_columns(dataset=pl.lit(variant["dataset"]), name=pl.lit(label)).select(list(schema)).cast(schema)
        )
    return pl.concat(found)


def run(cfg, inputs, outputs, ctx):
    page = render(
        cfg.extra.name,
        cfg.experiment.title,
        inputs["metrics"],
        inputs["comparisons"],
        _costs(cfg, inputs),
        cfg.extra.variants,
    )
    outputs.path("report").write_text(page, encoding="utf-8")
    return {"bytes": len(page.encode())}
