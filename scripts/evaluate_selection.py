"""Rule evaluate_selection: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.evaluate_selection import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
