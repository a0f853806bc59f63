"""Rule fetch_dataset: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.fetch_dataset import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
