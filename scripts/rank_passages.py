"""Rank the passages of each question's group with every ranker of a list."""

from secateur.ranking.rank import rank
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    evidence = inputs["evidence"] if "evidence" in inputs else None
    outputs["rankings"] = rank(cfg, inputs["passages"], inputs["questions"], evidence, ctx)
    return {"questions": inputs["questions"].height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
