"""The language model of an `lm` option, by the kind of reader that it names: in this process, or behind a server."""

from pathlib import Path

from secateur.models.causal import CausalLM
from secateur.models.served import Served
from secateur.pipeline import kinds
from secateur.pipeline.config.models import lm_problems
from secateur.pipeline.errors import SecateurError

__all__ = ["load"]


def load(cfg, cache: Path, device: str = "cpu") -> CausalLM | Served:
    """The model of an `lm` option.

    Raises SecateurError where keys of the option do not fit together, and where the model cannot be had.
    """
    if wrong := lm_problems(cfg):
        raise SecateurError(f"lm {cfg.model}: {'; '.join(wrong)}. Fix: conf/lm, or the override that set it.")
    kind = kinds.load("reader", cfg.backend)
    with kinds.calling("reader", kind):
        return kind.load(cfg, cache, device)
