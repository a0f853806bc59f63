"""Rule calibrate_sources: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.calibrate_sources import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
