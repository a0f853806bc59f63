"""Rule measure_graph: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.measure_graph import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
