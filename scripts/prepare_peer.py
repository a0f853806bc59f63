"""Install the environment of a peer, once for each content of its requirements."""

from secateur.core.artifacts import write_json
from secateur.peers.environment import install
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    environment = install(inputs.paths("requirements"), ctx.cache, ctx.log)
    if environment["failure"]:
        ctx.warn(f"{ctx.axes['environment']} is not installed, its rows will be missing: {environment['failure']}")
    write_json(outputs.path("environment"), environment)
    return {"installed": int(environment["failure"] is None)}


main(run, globals().get("snakemake"))
