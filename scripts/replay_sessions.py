"""Rule replay_sessions: hand Snakemake's job to the stage."""

from secateur.stage import main
from secateur.stages.replay_sessions import run

main(run, snakemake)  # noqa: F821 (Snakemake defines it)
