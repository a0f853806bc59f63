"""Rule recall_context: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.recall_context import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
