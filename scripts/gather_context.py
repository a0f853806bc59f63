"""Rule gather_context: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.gather_context import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
