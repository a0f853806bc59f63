"""Figures and stage records to runs, one for each row of figures; `secateur track` hands them to MLflow."""

from pathlib import Path

from secateur.stage.contract import main
from secateur.stage.ledger import records, variant_runs

RESULTS, CONF = Path("results"), Path("conf")


def run(cfg, inputs, outputs, ctx):
    runs = variant_runs(cfg.extra.name, cfg.extra.variants, inputs["metrics"], records(RESULTS), CONF)
    outputs["variant_runs"] = runs
    return {"runs": runs.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
