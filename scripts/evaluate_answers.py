"""Rule evaluate_answers: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.evaluate_answers import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
