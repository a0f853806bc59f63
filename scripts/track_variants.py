"""Rule track_variants: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.track_variants import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
