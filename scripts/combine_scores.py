"""Rule combine_scores: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.combine_scores import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
