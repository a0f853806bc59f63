"""Rule propose_passages: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.propose_passages import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
