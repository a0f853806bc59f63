"""Figures and stage records to one run per row of figures; `secateur track` writes the runs to MLflow."""

from pathlib import Path

from secateur.stage.contract import main
from secateur.stage.ledger import records, variant_runs

RESULTS, CONF = Path("results"), Path("conf")


def run(cfg, inputs, outputs, ctx):
    runs = variant_runs(cfg.extra.name, cfg.extra.variants, inputs["metrics"], records(RESULTS), CONF)
    outputs["variant_runs"] = runs
    return {"runs": runs.height}


main(run, globals().get("snakemake"))
