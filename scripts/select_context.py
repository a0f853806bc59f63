"""k_gold: as many passages as the question has resolvable gold ones, by score."""

from secateur.ranking.select import at_gold_size
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    outputs["selections"] = selected = at_gold_size(inputs["rankings"], inputs["evidence"])
    return {"questions": selected["question_id"].n_unique(), "selected": selected.height}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
