"""Rule consolidate: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.consolidate import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
