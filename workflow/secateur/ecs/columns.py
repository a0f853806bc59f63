"""Columns of the table `statistics`: which see the gold answer, and which part of a model's reply each needs.

Every job checks its plan against these when the Snakefile is parsed, so that no model is loaded here.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from secateur.config import plugins
from secateur.core.errors import SecateurError

__all__ = ["BASE", "COLUMNS", "JUDGED", "PROBES", "TEXT", "TOP", "WHOLE", "Column", "check_backend"]

TEXT = "log-probabilities of given tokens"
TOP = "the most probable next tokens"
WHOLE = "a distribution over the whole vocabulary"


class Column(NamedTuple):
    """A column of `statistics`.

    reply: the part of a model's reply it needs. aware: computed from the gold answer. probe: computed by additional
    forward passes, only where `ecs.probes` names it.
    """

    reply: str = TEXT
    aware: bool = False
    probe: bool = False


COLUMNS = {
    "tokens": Column(),
    "prompt_tokens": Column(),
    "cut": Column(),
    "answer_tokens": Column(aware=True),
    "answer_logprob": Column(aware=True),
    "answer_first": Column(aware=True),
    "question_tokens": Column(),
    "question_logprob": Column(),
    "entropy": Column(WHOLE),
    "kl": Column(WHOLE),
    "js": Column(WHOLE),
    "kl_tail": Column(WHOLE),
    "kl_paper": Column(TOP),
    "kl_path": Column(WHOLE, aware=True),
    "trajectory_ctx": Column(WHOLE, probe=True),
    "trajectory_base": Column(WHOLE, probe=True),
    "judge_helpful_answer": Column(aware=True, probe=True),
    "judge_factual": Column(probe=True),
    "rival_share": Column(aware=True, probe=True),
}
BASE = ("answer_logprob", "answer_first", "question_logprob", "entropy")  # also without a candidate, as base_NAME
COLUMNS |= {f"base_{name}": COLUMNS[name] for name in BASE}
JUDGED = ("judge_helpful_answer", "judge_factual")  # verdicts on a candidate by itself
PROBES = tuple(name for name, column in COLUMNS.items() if column.probe)


def check_backend(lm, cfg, scores: Mapping[str, Iterable[str]]) -> None:
    """Check that the backend of a language model can compute some scores.

    lm: an `lm` option, or a model of one. cfg: an `ecs` option. scores: the columns that each score reads.
    Raises SecateurError for the first score for which a server's replies hold too little.
    """
    if plugins.load("reader", lm.backend).IN_PROCESS:
        return
    for name, columns in scores.items():
        for column in columns:
            reply, reason, fix = COLUMNS[column].reply, "", "leave it out"
            if reply == WHOLE:
                reason = "its replies hold no distribution over the whole vocabulary"
            elif reply == TOP and lm.top_logprobs < cfg.top_k:
                reason = f"it needs ecs.top_k ({cfg.top_k}) most probable tokens, lm.top_logprobs is {lm.top_logprobs}"
                fix = f"lm.top_logprobs={cfg.top_k} (vLLM: a server with --max-logprobs {cfg.top_k})"
            if reason:
                raise SecateurError(
                    f"score {name} is not available on backend {lm.backend}: {reason}. "
                    f"Fix: {fix}; or an lm with backend transformers."
                )
