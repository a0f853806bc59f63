"""Every sentence scorer over a question's whole group: the `sentences` systems of the graph path."""

from secateur.pipeline.contract import main
from secateur.ranking.rank import rank


def run(cfg, inputs, outputs, ctx):
    outputs["utilities"] = rank(cfg, inputs["passages"], inputs["questions"], ctx)
    return {"questions": inputs["questions"].height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
