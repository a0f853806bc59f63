"""Rule evaluate_policy: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.evaluate_policy import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
