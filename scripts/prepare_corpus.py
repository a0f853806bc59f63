"""Rule prepare_corpus: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.prepare_corpus import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
