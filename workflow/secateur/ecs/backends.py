"""Which scorers a backend can give: a server tells log-probabilities of some tokens, never a whole distribution."""

from collections.abc import Sequence

from secateur.ecs.names import SCORER_NAMES
from secateur.pipeline import kinds
from secateur.pipeline.errors import SecateurError, nearest

__all__ = ["check"]

WHOLE = "its replies hold no distribution over the whole vocabulary"
SAMPLES = "what a server samples depends on no seed of ours"
TOP = "it needs ecs.top_k ({top_k}) most probable tokens, lm.top_logprobs is {top_logprobs}"
BY_SERVER: dict[str, tuple[str, str]] = {  # scorer: why a server cannot give it, and what to use instead
    "kl_first": (WHOLE, "kl_topk:paper"),
    "kl_topk:tail": (WHOLE, "kl_topk:paper"),
    "js": (WHOLE, "kl_topk:paper"),
    "entropy_drop": (WHOLE, "pmi_q"),
    "signed_kl": (WHOLE, "signed"),
    "trajectory:gold": (WHOLE, "signed"),
    "trajectory:ctx": (WHOLE, "kl_topk:paper"),
    "trajectory:base": (WHOLE, "kl_topk:paper"),
    "expected_shift": (SAMPLES, "pmi_q"),
}


def check(lm, cfg, scorers: Sequence[str]) -> None:
    """Refuse scorers that a backend cannot give. lm: an `lm` option, or the model of one; cfg: an `ecs` option.

    Raises SecateurError for the first such scorer, and for an unknown one.
    """
    for name in scorers:
        if name not in SCORER_NAMES:
            raise SecateurError(
                f"scorer {name!r} is not known; allowed: {', '.join(SCORER_NAMES)}{nearest(name, SCORER_NAMES)}"
            )
        if kinds.load("reader", lm.backend).IN_PROCESS:
            continue
        why, instead = BY_SERVER.get(name, ("", ""))
        if name == "kl_topk:paper" and lm.top_logprobs < cfg.top_k:
            why = TOP.format(top_k=cfg.top_k, top_logprobs=lm.top_logprobs)
            instead = f"lm.top_logprobs={cfg.top_k} (vLLM: a server with --max-logprobs {cfg.top_k})"
        if why:
            raise SecateurError(
                f"scorer {name} is not available on backend {lm.backend}: {why}. "
                f"Fix: {instead}; or an lm with backend transformers."
            )
