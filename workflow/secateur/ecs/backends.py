"""What a backend can give: a server tells log-probabilities of some tokens, never a whole distribution."""

from collections.abc import Iterable, Mapping

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.ecs.columns import COLUMNS, TOP, WHOLE

__all__ = ["check"]


def check(lm, cfg, wanted: Mapping[str, Iterable[str]]) -> None:
    """Refuse what a backend cannot give.

    lm: an `lm` option, or the model of one; cfg: an `ecs` option; wanted: the columns of the statistics by the name of
    what is made of them. Raises SecateurError for the first that a server gives not, or not with as many tokens.
    """
    if plugins.load("reader", lm.backend).IN_PROCESS:
        return
    for name, columns in wanted.items():
        for column in columns:
            of, why, fix = COLUMNS[column].of, "", "leave it out"
            if of == WHOLE:
                why = "its replies hold no distribution over the whole vocabulary"
            elif of == TOP and lm.top_logprobs < cfg.top_k:
                why = f"it needs ecs.top_k ({cfg.top_k}) most probable tokens, lm.top_logprobs is {lm.top_logprobs}"
                fix = f"lm.top_logprobs={cfg.top_k} (vLLM: a server with --max-logprobs {cfg.top_k})"
            if why:
                raise SecateurError(
                    f"score {name} is not available on backend {lm.backend}: {why}. "
                    f"Fix: {fix}; or an lm with backend transformers."
                )
