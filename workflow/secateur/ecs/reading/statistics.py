"""Sufficient statistics of one (question, candidate) pair, from which every teacher-forced score is computed.

P is the answer's distribution with the candidate, Q without it (ECS, section 3.2). All values are in nats.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from secateur.ecs.reading.engine import Predictions, Reading, few, first_rows, passes, received, targets
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded

__all__ = ["Base", "divergence", "of_base", "of_pairs", "of_predictions", "of_served_pair", "stacked"]


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


def lumped(p, q, top):
    """KL over P's top k tokens and one bucket for all others; never above the exact KL, to which it converges in k.

    top: (rows, k) tokens.
    """
    import torch

    others_p, others_q = (x.exp().scatter_(-1, top, 0).sum(-1) for x in (p, q))
    others = torch.where((others_p > 0) & (others_q > 0), others_p * (others_p.log() - others_q.log()), 0.0)
    p_top, q_top = p.gather(-1, top), q.gather(-1, top)
    return (p_top.exp() * (p_top - q_top)).sum(-1) + others


def filled(p, q, top, base_top, far: float):
    """The paper's KL over P's top k: a token outside Q's top k has probability `far` under Q; not renormalised.

    Most of its value is that fill (ECS, table 2). top, base_top: (rows, k) tokens of P and of Q.
    """
    p_top, q_top = p.gather(-1, top), q.gather(-1, top)
    outside = ~top[..., :, None].eq(base_top[..., None, :]).any(-1)
    return (p_top.exp() * (p_top - q_top.masked_fill(outside, math.log(far)))).sum(-1)


def filled_known(p: Mapping[int, float], q: Mapping[int, float], far: float) -> float:
    """`filled` from the log-probabilities of the top k tokens of both sides, by token."""
    return sum(math.exp(value) * (value - q.get(token, math.log(far))) for token, value in p.items())


def _agreeing(sequence: Encoded, base: Encoded) -> int:
    """Number of equal tokens at the start of two continuations."""
    a, b = sequence.ids[sequence.start :], base.ids[base.start :]
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def of_base(sequence: Encoded, reading: Reading) -> dict[str, Any]:
    """Statistics of a sequence by itself."""
    asked, answer = (None if x is None else x.cpu().numpy() for x in (reading.asked, reading.answer))
    return _of_tokens(sequence, asked, answer) | {
        "entropy": None if reading.path is None else float(entropy(reading.path[0]))
    }


def _of_tokens(sequence: Encoded, asked, answer) -> dict[str, Any]:
    """The columns that depend on log-probabilities of the question's tokens (None where undefined) and the answer's."""
    return {
        "prompt_tokens": sequence.start,
        "cut": sequence.cut,
        "answer_tokens": len(answer) or None,
        "answer_logprob": float(answer.sum(dtype=np.float64)) if len(answer) else None,
        "answer_first": float(answer[0]) if len(answer) else None,
        "question_tokens": None if asked is None else len(asked),
        "question_logprob": None if asked is None else float(asked.sum(dtype=np.float64)),
    }


def of_served_pair(sequence: Encoded, reading: Reading, prior: Reading, top_k: int, far: float) -> dict[str, Any]:
    """Statistics of a sequence that a server read.

    Its reply allows only the paper's top-k KL, and only if it holds at least `top_k` tokens.
    """
    row = of_base(sequence, reading)
    if min(len(reading.top), len(prior.top)) < top_k:
        return row
    return row | {"kl_paper": filled_known(_best(reading.top, top_k), _best(prior.top, top_k), far)}


def _best(top: Mapping[int, float], k: int) -> dict[int, float]:
    return dict(sorted(top.items(), key=lambda item: -item[1])[:k])


@dataclass(frozen=True)
class Base:
    """Questions without a candidate, under the context C alone.

    sequences, readings: of each question. paths: (rows, vocabulary) log-distributions of all questions, one after the
    other, or None from a server; starts: the first row of each; top: (questions, k) most probable first tokens.
    """

    sequences: Sequence[Encoded]
    readings: Sequence[Reading]
    paths: Any = None
    starts: Sequence[int] = ()
    top: Any = None


def stacked(sequences: Sequence[Encoded], readings: Sequence[Reading], top_k: int) -> Base:
    """The base of some questions; the readings keep views of its paths."""
    import torch

    if readings[0].path is None:
        return Base(sequences, readings)
    paths, lengths = torch.cat([reading.path for reading in readings]), [len(reading.path) for reading in readings]
    starts = [0, *accumulate(lengths)][:-1]
    first = paths[torch.tensor(starts, device=paths.device)]
    views = [replace(reading, path=path) for reading, path in zip(readings, paths.split(lengths), strict=True)]
    return Base(sequences, views, paths, starts, first.topk(min(top_k, first.shape[-1]), -1).indices)


def of_pairs(
    lm: CausalLM, cfg, sequences: Sequence[Encoded], families: Sequence[Any], questions: Sequence[int], base: Base
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (place, statistics) of sequences, each with its divergence from its question's base along their common answer.

    questions: the question of each sequence. The statistics of a whole forward pass are computed together.
    """
    for layout, values in received(lm, _launched(lm, cfg, sequences, families, questions, base)):
        yield from layout.rows(sequences, values)


@dataclass(frozen=True)
class _Layout:
    """Where the statistics of a pass stand in its values: log-probabilities, KL by step, then four of each first step.

    counts: tokens, steps: positions with a KL, of each sequence.
    """

    places: Sequence[int]
    counts: Sequence[int]
    steps: Sequence[int]

    def rows(self, sequences: Sequence[Encoded], values) -> Iterator[tuple[int, dict[str, Any]]]:
        """(place, statistics) of each sequence."""
        tokens, kl, first = np.split(values, np.cumsum([sum(self.counts), sum(self.steps)]))
        tokens, kl = (np.split(x, np.cumsum(n)[:-1]) for x, n in ((tokens, self.counts), (kl, self.steps)))
        entropy, js, tail, paper = first.reshape(4, -1).tolist()
        for m, n in enumerate(self.places):
            sequence, path = sequences[n], kl[m].tolist()
            asked = sequence.asked[1] - sequence.asked[0] if sequence.asked else 0
            yield (
                n,
                _of_tokens(sequence, tokens[m][:asked] if sequence.asked else None, tokens[m][asked:])
                | {"entropy": entropy[m], "kl": path[0], "js": js[m], "kl_tail": tail[m], "kl_paper": paper[m]}
                | {"kl_path": path if len(tokens[m]) > asked else None},
            )


def _launched(lm, cfg, sequences, families, questions, base: Base) -> Iterator[tuple[_Layout, Any, Any]]:
    """(layout, norms, values on the model's device) of each forward pass, whose logits are freed before the next."""
    for predictions in passes(lm, sequences, families):
        norms, (layout, values) = predictions.norms, of_predictions(lm, cfg, sequences, questions, base, predictions)
        del predictions
        yield layout, norms, values


def of_predictions(
    lm: CausalLM, cfg, sequences: Sequence[Encoded], questions: Sequence[int], base: Base, predictions: Predictions
) -> tuple[_Layout, Any]:
    """The statistics of one forward pass: (layout, values on the model's device)."""
    import torch

    rows, tokens, counts = targets(sequences, predictions)
    first = first_rows(sequences, predictions)
    asked = [questions[n] for n in predictions.places]
    steps = [
        _steps(sequences[n], base.sequences[q], cfg.horizon) for n, q in zip(predictions.places, asked, strict=True)
    ]
    begins = [base.starts[q] for q in asked]
    path, prior = (
        [start + step for start, count in zip(starts, steps, strict=True) for step in range(count)]
        for starts in (first, begins)
    )
    rows, tokens, path, prior, first, begins, asked = lm.indices(rows, tokens, path, prior, first, begins, asked)
    size = few(predictions.logits)
    logprobs = predictions.logits[rows, tokens].float() - predictions.norms[rows]
    kl = [
        divergence(predictions.logprobs(p), base.paths[q])
        for p, q in zip(path.split(size), prior.split(size), strict=True)
    ]
    each = [
        _at_first(predictions.logprobs(p), base.paths[q], base.top[n], cfg.epsilon)
        for p, q, n in zip(first.split(size), begins.split(size), asked.split(size), strict=True)
    ]
    return _Layout(predictions.places, counts, steps), torch.cat([logprobs, *kl, torch.cat(each, 1).flatten()])


def _steps(sequence: Encoded, base: Encoded, horizon: int) -> int:
    """Answer positions at which both have a distribution after the same tokens."""
    same = _agreeing(sequence, base)
    return min(horizon, same + 1, *(max(len(encoded.ids) - encoded.start, 1) for encoded in (sequence, base)))


def _at_first(p, q, base_top, far: float):
    """(4, rows): entropy of P, and its divergences from Q by `jensen_shannon`, `lumped` and `filled`."""
    import torch

    top = p.topk(base_top.shape[-1], -1).indices
    return torch.stack([entropy(p), jensen_shannon(p, q), lumped(p, q, top), filled(p, q, top, base_top, far)])
