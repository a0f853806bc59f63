"""transformers, in this process: a folder, a hub id, or a GGUF file, which is converted once."""

import os
from pathlib import Path

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.models.kernels import steady, usable
from secateur.models.size import fitting_pack, parameters, refuse_too_large

__all__ = ["IN_PROCESS", "KEYS", "Settings", "load"]

KEYS = frozenset({"dtype", "pack", "exact"})
IN_PROCESS = True
STATIC = ("default", "linear", "yarn", "llama3", "proportional")  # rope types whose angles hang on the position alone


def load(cfg, cache: Path, device: str):
    """The model of an `lm` option with its weights, in the option's data type for the device.

    GGUF weights are converted first. Raises SecateurError where the address holds no causal language model, and for one
    that does not fit in the GPU's memory.
    """
    from secateur.models.causal import CausalLM
    from secateur.models.prepare import fast_tokenizer, loading, prepare, refuse_incomplete

    steady()
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    device = usable(device)
    address, dtype, pack = prepare(cfg.model, cache), cfg.dtype[device], cfg.pack[device]
    tokenizer = fast_tokenizer(cfg.model, address)
    if device == "cuda":
        refuse_too_large(cfg.model, parameters(address), dtype, *torch.cuda.mem_get_info())
    with loading(cfg.model):
        settings = {"dtype": getattr(torch, dtype), "output_loading_info": True, "ignore_mismatched_sizes": True}
        if device == "cuda":  # it gets each weight as it is read, so that host memory holds them once
            settings["device_map"] = {"": device}
        model, info = AutoModelForCausalLM.from_pretrained(address, **settings)
    refuse_incomplete(cfg.model, info)
    text = model.config.get_text_config()
    if problem := _position_problem(text, cfg.window):
        raise SecateurError(f"lm.model {cfg.model}: {problem}")
    if device == "cuda":
        beside = torch.cuda.get_device_properties(0).total_memory - model.get_memory_footprint()
        pack = fitting_pack(pack, text.vocab_size, dtype, beside)
    return CausalLM(
        model, tokenizer, cfg.window, pack, cfg.model, _weights(cfg.model, address, model, cache), cfg.exact
    )


def _position_problem(config, window: int) -> str | None:
    """What is wrong with a window where a token's rotary angles depend on the longest position in a pass, or None.

    config: of the text model. Below its original context such a model reads every sequence with the same angles.
    """
    parameters = getattr(config, "rope_parameters", None) or {}
    for rope in parameters.values() if all(isinstance(v, dict) for v in parameters.values()) else (parameters,):
        kind = rope.get("rope_type", "default")
        if kind in STATIC:
            continue
        original = rope.get("original_max_position_embeddings") or config.max_position_embeddings
        if window > original:
            return (
                f"rope_type {kind} turns all positions otherwise where a sequence of the pass exceeds {original} tokens, "
                f"and lm.window is {window}. Fix: lm.window={original}"
            )
    return None


def _weights(named: str, address: str, model, cache: Path) -> str:
    """Identity of the weights: the digest of their files, or the hub's commit."""
    from secateur.models.prepare import is_gguf, weights_digest

    if is_gguf(named):
        return Path(address).name  # the folder's name is the digest
    if Path(address).is_dir():
        return weights_digest(address, cache)
    return f"{address}@{getattr(model.config, '_commit_hash', None)}"
