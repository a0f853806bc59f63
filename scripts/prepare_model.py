"""Rule prepare_model: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.prepare_model import run

main(run, snakemake)  # noqa: F821
