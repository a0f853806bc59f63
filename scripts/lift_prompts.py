"""Rule lift_prompts: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.lift_prompts import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
