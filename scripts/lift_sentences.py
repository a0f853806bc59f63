"""Rule lift_sentences: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.lift_sentences import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
