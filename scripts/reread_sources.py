"""Rule reread_sources: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.reread_sources import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
