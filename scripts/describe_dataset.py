"""Rule describe_dataset: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.describe_dataset import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
