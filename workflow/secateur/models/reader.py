"""The language model of an `lm` option, in this process or behind a server."""

from pathlib import Path

from secateur.config import plugins
from secateur.config.models import lm_problems
from secateur.core.errors import SecateurError
from secateur.models.agreement import check_once
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["load"]


def load(cfg, cache: Path, device: str = "cpu") -> CausalLM | Served:
    """Load the model of an `lm` option; one of this process is checked once against its own attention.

    Raises SecateurError for keys that do not fit, and for a model that is missing or cannot be read in packs.
    """
    if wrong := lm_problems(cfg):
        raise SecateurError(f"lm {cfg.model}: {'; '.join(wrong)}. Fix: conf/lm, or the override that set it.")
    backend = plugins.load("reader", cfg.backend)
    with plugins.calling("reader", backend):
        lm = backend.load(cfg, cache, device)
        if isinstance(lm, CausalLM):
            check_once(lm, cache)
        return lm
