"""Rule build_codebook: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.build_codebook import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
