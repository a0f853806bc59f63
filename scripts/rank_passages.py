"""Rule rank_passages: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.rank_passages import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
