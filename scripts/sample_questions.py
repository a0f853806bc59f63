"""Rule sample_questions: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.sample_questions import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
