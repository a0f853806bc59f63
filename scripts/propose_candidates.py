"""Rule propose_candidates: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.propose_candidates import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
