"""Sufficient statistics of one (question, candidate) pair, from which every teacher-forced score is computed.

P is the answer's distribution with the candidate, Q without it (ECS, section 3.2). All values are in nats.
"""

import math
from collections.abc import Mapping
from typing import Any

from secateur.ecs.reading.engine import Reading
from secateur.models.encoding import Encoded

__all__ = ["divergence", "of_base", "of_pair", "path_divergence"]


def divergence(p, q):
    """KL(P || Q) of log-distributions (..., vocabulary); never negative."""
    return (p.exp() * (p - q)).sum(-1).clamp(min=0)


def jensen_shannon(p, q):
    """Half KL(P || M) plus half KL(Q || M), M their mean; between 0 and log 2."""
    mean = p.logaddexp(q) - math.log(2)
    return (divergence(p, mean) + divergence(q, mean)) / 2


def entropy(p):
    """H(P)."""
    return -(p.exp() * p).sum(-1)


def lumped(p, q, k: int):
    """KL over P's top k tokens and one bucket for all others; never above the exact KL, to which it converges in k."""
    k = min(k, p.shape[-1])
    top = p.topk(k).indices
    rest_p, rest_q = (x.exp().index_fill(0, top, 0).sum() for x in (p, q))
    rest = rest_p * (rest_p.log() - rest_q.log()) if rest_p > 0 and rest_q > 0 else 0.0
    return (p[top].exp() * (p[top] - q[top])).sum() + rest


def filled(p, q, k: int, far: float):
    """The paper's KL over P's top k: a token outside Q's top k has probability `far` under Q; not renormalised.

    Most of its value is that fill (ECS, table 2).
    """
    k = min(k, p.shape[-1])
    top, base_top = p.topk(k).indices, q.topk(k).indices
    under = q[top].masked_fill(~top[:, None].eq(base_top).any(1), math.log(far))
    return (p[top].exp() * (p[top] - under)).sum()


def filled_known(p: Mapping[int, float], q: Mapping[int, float], far: float) -> float:
    """`filled` from the log-probabilities of the top k tokens of both sides, by token."""
    return sum(math.exp(value) * (value - q.get(token, math.log(far))) for token, value in p.items())


def path_divergence(reading: Reading, base: Reading, same: int):
    """(t,) KL_t at the first answer position and after each of the first `same` tokens, which both paths share."""
    steps = min(len(reading.path), len(base.path), same + 1)
    return divergence(reading.path[:steps], base.path[:steps])


def _agreeing(sequence: Encoded, base: Encoded) -> int:
    """Number of equal tokens at the start of two continuations."""
    a, b = sequence.ids[sequence.start :], base.ids[base.start :]
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def of_base(sequence: Encoded, reading: Reading) -> dict[str, Any]:
    """Statistics of a sequence by itself."""
    answer_tokens = len(reading.answer)
    return {
        "prompt_tokens": sequence.start,
        "cut": sequence.cut,
        "answer_tokens": answer_tokens or None,
        "answer_logprob": float(reading.answer.double().sum()) if answer_tokens else None,
        "answer_first": float(reading.answer[0]) if answer_tokens else None,
        "question_tokens": None if reading.asked is None else len(reading.asked),
        "question_logprob": None if reading.asked is None else float(reading.asked.double().sum()),
        "entropy": None if reading.path is None else float(entropy(reading.path[0])),
    }


def of_pair(
    sequence: Encoded, reading: Reading, base: Encoded, prior: Reading, top_k: int, far: float
) -> dict[str, Any]:
    """Statistics of a sequence, and its divergence from the base at the first answer position and along the answer.

    A server's reply allows only the paper's top-k KL, and only if it holds at least `top_k` tokens.
    """
    row = of_base(sequence, reading)
    if reading.path is None:
        if min(len(reading.top), len(prior.top)) < top_k:
            return row
        return row | {"kl_paper": filled_known(_best(reading.top, top_k), _best(prior.top, top_k), far)}
    p, q = reading.path[0], prior.path[0]
    steps = path_divergence(reading, prior, _agreeing(sequence, base))
    return row | {
        "kl": float(steps[0]),
        "js": float(jensen_shannon(p, q)),
        "kl_tail": float(lumped(p, q, top_k)),
        "kl_paper": float(filled(p, q, top_k, far)),
        "kl_path": steps.tolist() if len(reading.answer) else None,
    }


def _best(top: Mapping[int, float], k: int) -> dict[int, float]:
    return dict(sorted(top.items(), key=lambda item: -item[1])[:k])
