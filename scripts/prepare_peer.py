"""The environment of a peer, made once for what its requirements say."""

from secateur.core.artifacts import write_json
from secateur.peers.environment import environment
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    made = environment(inputs.paths("requirements"), ctx.cache, ctx.log)
    if made["failure"]:
        ctx.warn(f"{ctx.axes['environment']} is not installed, its rows will be missing: {made['failure']}")
    write_json(outputs.path("environment"), made)
    return {"installed": int(made["failure"] is None)}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
