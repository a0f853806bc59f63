"""Rule select_greedily: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.select_greedily import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
