"""transformers, in this process: a folder, a hub id, or a GGUF file, which is converted once."""

from pathlib import Path

from secateur.config.plugins import NoSettings as Settings

__all__ = ["IN_PROCESS", "KEYS", "Settings", "load"]

KEYS = frozenset({"dtype", "pack"})
IN_PROCESS = True


def load(cfg, cache: Path, device: str):
    """The model with its weights."""
    from secateur.models.causal import in_process

    return in_process(cfg, cache, device)
