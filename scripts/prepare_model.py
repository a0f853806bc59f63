"""Fetches a language model from a hub where it is missing, converts weights to a form that loads fast, records their digest."""

from secateur.core.artifacts import write_json
from secateur.core.events import tell
from secateur.models.prepare import is_gguf, prepare, weights_digest
from secateur.stage.contract import main


def run(cfg, inputs, outputs, ctx):
    address = cfg.lm.model  # for a server this is a tokenizer: the weights are its own

    def say(text):
        """Tell a download, which a user waits for, in the log and on the terminal."""
        ctx.log.info(text)
        tell(f"prepare_model: {text}")

    prepare(address, ctx.cache, cfg.extra.in_process, say)
    weights = weights_digest(address, ctx.cache) if cfg.extra.in_process else None
    write_json(outputs.path("model"), {"model": address, "weights": weights, "converted": is_gguf(address)})
    ctx.log.info("%s: weights %s", address, weights or "of a server")
    return {"converted": int(is_gguf(address))}


main(run, globals().get("snakemake"))
