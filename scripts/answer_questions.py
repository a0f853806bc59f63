"""Rule answer_questions: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.answer_questions import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
