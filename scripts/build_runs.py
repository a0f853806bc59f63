"""Rule build_runs: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.build_runs import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
