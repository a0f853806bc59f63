"""Rule extract_triples: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.extract_triples import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
