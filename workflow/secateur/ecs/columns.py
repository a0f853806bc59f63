"""What the columns of the table `statistics` are made of: the gold answer or not, and which part of a model's reply.

What a score reads decides whether it sees the answer, and which models can give it. Nothing is loaded here: every job
checks its plan against this when the Snakefile is parsed.
"""

from typing import NamedTuple

__all__ = ["BASE", "COLUMNS", "PROBES", "TEXT", "TOP", "WHOLE", "Column"]

TEXT = "log-probabilities of given tokens"
TOP = "the most probable next tokens"
WHOLE = "a distribution over the whole vocabulary"


class Column(NamedTuple):
    """of: which part of a reply; aware: of the gold answer; probe: by passes of its own, where `ecs.probes` asks."""

    of: str = TEXT
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
BASE = ("answer_logprob", "answer_first", "question_logprob", "entropy")  # also of the question alone, as base_NAME
COLUMNS |= {f"base_{name}": COLUMNS[name] for name in BASE}
PROBES = tuple(name for name, column in COLUMNS.items() if column.probe)
