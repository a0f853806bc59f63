"""The language model of an `lm` option, by the kind of reader that it names: in this process, or behind a server."""

from pathlib import Path

from secateur.config import plugins
from secateur.config.models import lm_problems
from secateur.core.errors import SecateurError
from secateur.models.causal import CausalLM
from secateur.models.served import Served

__all__ = ["load"]


def load(cfg, cache: Path, device: str = "cpu") -> CausalLM | Served:
    """The model of an `lm` option.

    Raises SecateurError where keys of the option do not fit together, and where the model cannot be had.
    """
    if wrong := lm_problems(cfg):
        raise SecateurError(f"lm {cfg.model}: {'; '.join(wrong)}. Fix: conf/lm, or the override that set it.")
    kind = plugins.load("reader", cfg.backend)
    with plugins.calling("reader", kind):
        return kind.load(cfg, cache, device)
