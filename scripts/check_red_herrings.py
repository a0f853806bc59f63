"""Rule check_red_herrings: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.check_red_herrings import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
