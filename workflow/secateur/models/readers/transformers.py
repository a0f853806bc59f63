"""transformers, in this process: a folder, a hub id, or a GGUF file, which is converted once."""

from pathlib import Path

from secateur.config.plugins import NoSettings as Settings
from secateur.core.threads import allowed
from secateur.models.kernels import steady, usable
from secateur.models.size import fitting_pack, parameters, refuse_too_large

__all__ = ["IN_PROCESS", "KEYS", "Settings", "load"]

KEYS = frozenset({"dtype", "pack", "exact"})
IN_PROCESS = True


def load(cfg, cache: Path, device: str):
    """The model of an `lm` option with its weights, in the option's data type for the device.

    GGUF weights are converted first. Raises SecateurError where the address holds no causal language model, and for one
    that does not fit in the GPU's memory.
    """
    from secateur.models.admission import refuse_adapter, refuse_unread_fields, refuse_unread_weights
    from secateur.models.causal import CausalLM
    from secateur.models.hub import folder_of
    from secateur.models.prepare import fast_tokenizer, loading, prepare

    steady()
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(allowed())
    device = usable(device)
    address, dtype, pack = prepare(cfg.model, cache), cfg.dtype[device], cfg.pack[device]
    folder = folder_of(address)
    refuse_adapter(cfg.model, folder)
    tokenizer = fast_tokenizer(cfg.model, address)
    if device == "cuda":
        refuse_too_large(cfg.model, parameters(address), dtype, *torch.cuda.mem_get_info())
    with loading(cfg.model):
        settings = {"dtype": getattr(torch, dtype), "output_loading_info": True, "ignore_mismatched_sizes": True}
        if device == "cuda":  # it gets each weight as it is read, so that host memory holds them once
            settings["device_map"] = {"": device}
        model, info = AutoModelForCausalLM.from_pretrained(address, **settings)
        refuse_unread_weights(cfg.model, info)
        refuse_unread_fields(cfg.model, folder, model.config)
    text = model.config.get_text_config()
    if device == "cuda":
        beside = torch.cuda.get_device_properties(0).total_memory - model.get_memory_footprint()
        pack = fitting_pack(pack, text.vocab_size, dtype, beside)
    return CausalLM(
        model, tokenizer, cfg.window, pack, cfg.model, _weights(cfg.model, address, model, cache), cfg.exact
    )


def _weights(named: str, address: str, model, cache: Path) -> str:
    """Identity of the weights: the digest of their files, or the hub's commit."""
    from secateur.models.prepare import is_gguf, weights_digest

    if is_gguf(named):
        return Path(address).name  # the folder's name is the digest
    if Path(address).is_dir():
        return weights_digest(address, cache)
    return f"{address}@{getattr(model.config, '_commit_hash', None)}"
