"""Rule build_preferences: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.build_preferences import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
