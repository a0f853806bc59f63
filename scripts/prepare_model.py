"""Converts a language model's weights to a form that loads fast, and records their digest."""

from secateur.core.artifacts import write_json
from secateur.models.prepare import is_gguf, prepare, weights_digest
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    address = cfg.lm.model  # for a server this is a tokenizer: the weights are its own
    weights = weights_digest(address) if cfg.extra.in_process else None
    prepare(address, ctx.cache)
    write_json(outputs.path("model"), {"model": address, "weights": weights, "converted": is_gguf(address)})
    ctx.log.info("%s: weights %s", address, weights or "of a server")
    return {"converted": int(is_gguf(address))}


if "snakemake" in globals():
    main(run, snakemake)  # noqa: F821 (Snakemake defines it)
