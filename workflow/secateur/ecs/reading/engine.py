"""Read encoded sequences with a model: compute common prefixes once, and yield the predictions of each forward pass.

Sequences of one family share the keys and values of their longest common prefix: a passage that stands first, a question
that stands first, or a common context C (ECS, proposition 2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from secateur.core.errors import SecateurError
from secateur.models.causal import NOTHING, CausalLM, Prefix
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = [
    "Predictions",
    "Reading",
    "answer_logprobs",
    "check_finite",
    "cost",
    "few",
    "first_logprobs",
    "first_rows",
    "log_normalisers",
    "packs",
    "passes",
    "passes_after",
    "prefilled",
    "read",
    "reading_of",
    "received",
    "targets",
]

FEW = {"cpu": 4, "cuda": 512}  # rows of logits computed together: what a processor's cache holds; what fills a GPU


@dataclass(frozen=True)
class Reading:
    """Log-probabilities of one sequence, fp32, in nats.

    asked: (question tokens,), None if undefined. answer: (answer tokens,). path: (up to `horizon`, vocabulary)
    log-distributions from the first answer position on. A server gives no path; `top` then holds the most probable first
    answer tokens with their log-probabilities.
    """

    asked: Any
    answer: Any
    path: Any
    top: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictions:
    """The predictions of one forward pass. places: of its sequences in the input; starts: the first row of each.

    logits: (rows, vocabulary) in the model's type; norms: (rows,) their log-sum-exp in fp32. A sequence has a row for each
    token in `predicting`.
    """

    places: Sequence[int]
    starts: Sequence[int]
    logits: Any
    norms: Any

    def logprobs(self, rows):
        """(n, vocabulary) log-distributions, fp32, at a tensor of n rows."""
        return self.logits[rows].float().sub_(self.norms[rows, None])


@dataclass(frozen=True)
class _Family:
    """Sequences, by place in the input, that share their first `shared` tokens."""

    members: list[int]
    shared: int


def _families(sequences: Sequence[Encoded], families: Sequence[Any]) -> list[_Family]:
    """The families with their longest common prefix, which ends before the first position that any must predict from."""
    order = sorted(range(len(sequences)), key=lambda n: families[n])
    result = []
    for _, group in groupby(order, key=lambda n: families[n]):
        members = list(group)
        limit = min(sequences[n].predicting[0] for n in members) if len(members) > 1 else 0
        first, last = min(sequences[n].read[:limit] for n in members), max(sequences[n].read[:limit] for n in members)
        shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), limit)
        result.append(_Family(members, shared))
    return result


def packs(items: Sequence[Any], sizes: Sequence[int], max_size: int) -> Iterator[list[Any]]:
    """Runs of consecutive items whose sizes sum to at most `max_size`; a larger item is a run by itself."""
    pack, total = [], 0
    for item, size in zip(items, sizes, strict=True):
        if pack and total + size > max_size:
            yield pack
            pack, total = [], 0
        pack.append(item)
        total += size
    if pack:
        yield pack


def cost(sequences: Sequence[Encoded], families: Sequence[Any]) -> int:
    """Tokens that a model computes to read the sequences."""
    plan = _families(sequences, families)
    return sum(f.shared + sum(len(sequences[n].read) - f.shared for n in f.members) for f in plan)


def passes(lm: CausalLM, sequences: Sequence[Encoded], families: Sequence[Any]) -> Iterator[Predictions]:
    """Read all sequences, in any order; sequences of the same family may share a prefix.

    Memory holds one pack of prefixes and the logits of one pack of sequences.
    """
    plan = _families(sequences, families)
    for block in packs(plan, [f.shared for f in plan], lm.pack):
        tokens = [sequences[family.members[0]].read[: family.shared] for family in block if family.shared]
        prefixes = iter(lm.prefill(tokens) if tokens else ())
        work = []
        for family in block:
            prefix = next(prefixes) if family.shared else NOTHING
            work += [(n, prefix) for n in family.members]
        yield from _passes(lm, sequences, work)


def passes_after(
    lm: CausalLM, sequences: Sequence[Encoded], contexts: Sequence[tuple[Sequence[int], Prefix]]
) -> Iterator[Predictions]:
    """`passes` of sequences that continue prefilled contexts (tokens, prefix), one for each sequence.

    A sequence that begins otherwise, because the window cut it elsewhere, is read from its start.
    """
    work = []
    for n, (sequence, (context, prefix)) in enumerate(zip(sequences, contexts, strict=True)):
        begins_alike = sequence.read[: prefix.length] == tuple(context[: prefix.length])
        work.append((n, prefix if begins_alike and sequence.predicting[0] >= prefix.length else NOTHING))
    yield from _passes(lm, sequences, work)


def _passes(lm: CausalLM, sequences: Sequence[Encoded], work: Sequence[tuple[int, Prefix]]) -> Iterator[Predictions]:
    """Passes over (place, prefix), pack by pack; the logits of one are freed before the next."""
    for pack in packs(work, [len(sequences[n].read) - prefix.length for n, prefix in work], lm.pack):
        rows, starts, start = [], [], 0
        for n, prefix in pack:
            starts.append(len(rows))
            rows += [start + position - prefix.length for position in sequences[n].predicting]
            start += len(sequences[n].read) - prefix.length
        tails = [sequences[n].read[prefix.length :] for n, prefix in pack]
        logits = lm.logits(tails, [prefix for _, prefix in pack], rows)
        yield Predictions([n for n, _ in pack], starts, logits, log_normalisers(logits))
        del logits


def read(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """Yield (place, reading) of every sequence, in any order; sequences of the same family may share a prefix.

    Raises SecateurError if the model predicts NaN or infinity.
    """
    if isinstance(lm, Served):
        yield from enumerate(map(_served_reading, sequences, lm.read(sequences)))
        return
    for predictions in passes(lm, sequences, families):
        check_finite(lm, bool(predictions.norms.isfinite().all()))
        ends = [*predictions.starts[1:], len(predictions.norms)]
        for n, start, end in zip(predictions.places, predictions.starts, ends, strict=True):
            yield n, reading_of(sequences[n], predictions.logits[start:end], predictions.norms[start:end], horizon)


def targets(sequences: Sequence[Encoded], predictions: Predictions) -> tuple[list[int], list[int], list[int]]:
    """(rows, tokens, counts): the rows that predict a question's and an answer's tokens, these tokens, and how many.

    Sequence after sequence, as they stand in the pass.
    """
    rows, tokens, counts = [], [], []
    for n, start in zip(predictions.places, predictions.starts, strict=True):
        predicted = _predicted(sequences[n])
        rows += range(start, start + len(predicted))
        tokens += predicted
        counts.append(len(predicted))
    return rows, tokens, counts


def first_rows(sequences: Sequence[Encoded], predictions: Predictions) -> list[int]:
    """The row of each sequence of a pass that predicts the first token of its answer."""
    return [
        start + _asked_tokens(sequences[n]) for n, start in zip(predictions.places, predictions.starts, strict=True)
    ]


def answer_logprobs(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any]
) -> Iterator[tuple[int, float]]:
    """Yield (place, log-probability of the answer in nats) of every sequence, in any order."""
    if isinstance(lm, Served):
        yield from ((n, float(reading.answer.double().sum())) for n, reading in read(lm, sequences, families, 1))
        return
    for (places, counts), values in received(lm, _token_logprobs(lm, sequences, families)):
        for n, part in zip(places, np.split(values, np.cumsum(counts)[:-1]), strict=True):
            yield n, float(part[_asked_tokens(sequences[n]) :].sum(dtype=np.float64))


def _token_logprobs(
    lm: CausalLM, sequences: Sequence[Encoded], families: Sequence[Any]
) -> Iterator[tuple[Any, Any, Any]]:
    """((places, counts), norms, (tokens,) log-probabilities) of each pass."""
    for predictions in passes(lm, sequences, families):
        rows, tokens, counts = targets(sequences, predictions)
        rows, tokens = lm.indices(rows, tokens)
        norms = predictions.norms
        yield (predictions.places, counts), norms, predictions.logits[rows, tokens].float() - norms[rows]


def received(lm: CausalLM, results: Iterator[tuple[Any, Any, Any]]) -> Iterator[tuple[Any, NDArray[np.float32]]]:
    """(label, values in host memory) of each (label, norms of the pass, (n,) values on the model's device).

    From a GPU they come one pass late, so that it computes the next while these are copied. Raises SecateurError if the
    model predicts NaN or infinity.
    """
    import torch

    waiting: list[tuple[Any, Any]] = []
    for label, norms, values in results:
        waiting.append((label, lm.sent(torch.cat([values, norms.isfinite().all()[None].to(values.dtype)]))))
        if len(waiting) > (lm.model.device.type == "cuda"):
            yield _checked(lm, *waiting.pop(0))
    yield from (_checked(lm, *each) for each in waiting)


def _checked(lm: CausalLM, label, arrived) -> tuple[Any, NDArray[np.float32]]:
    values = arrived()
    check_finite(lm, bool(values[-1]))
    return label, values[:-1]


def prefilled(lm: CausalLM, contexts: Sequence[Sequence[int]]) -> list[Prefix]:
    """Keys and values of each context but its last token, which predicts the next; equal prefixes are read once."""
    heads = list(dict.fromkeys(tuple(context[:-1]) for context in contexts if len(context) > 1))
    prefixes = [p for part in packs(heads, [len(head) for head in heads], lm.pack) for p in lm.prefill(part)]
    by_head = dict(zip(heads, prefixes, strict=True))
    return [by_head.get(tuple(context[:-1]), NOTHING) for context in contexts]


def first_logprobs(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], tokens: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """Yield (place, (len(tokens),) log-probabilities of these tokens at the first answer position) of every sequence."""
    if isinstance(lm, Served):
        yield from enumerate(map(np.array, lm.named(sequences, tokens)))
        return
    for places, values in received(lm, _named_logprobs(lm, sequences, families, tokens)):
        yield from zip(places, values.reshape(len(places), -1), strict=True)


def _named_logprobs(
    lm: CausalLM, sequences: Sequence[Encoded], families: Sequence[Any], tokens: Sequence[int]
) -> Iterator[tuple[Any, Any, Any]]:
    """(places, norms, log-probabilities of the tokens, sequence after sequence) of each pass."""
    for predictions in passes(lm, sequences, families):
        rows, columns = lm.indices(first_rows(sequences, predictions), tokens)
        logprobs = predictions.logits[rows[:, None], columns].float() - predictions.norms[rows, None]
        yield predictions.places, predictions.norms, logprobs.flatten()


def _served_reading(sequence: Encoded, reply: tuple[Sequence[float], Mapping[int, float]]) -> Reading:
    """The reading from a server's reply."""
    import torch

    logprobs, top = torch.tensor(reply[0], dtype=torch.float32), reply[1]
    question_tokens = sequence.asked[1] - sequence.asked[0] if sequence.asked else 0
    answer = logprobs[len(logprobs) - len(sequence.ids) + sequence.start :]
    return Reading(logprobs[:question_tokens] if question_tokens else None, answer, None, top)


def few(logits) -> int:
    """Rows of logits to compute together, by their device."""
    return FEW[logits.device.type]


def log_normalisers(logits):
    """The log-sum-exp (rows,) of logits (rows, vocabulary), a few rows at a time."""
    import torch

    return torch.cat([part.float().logsumexp(-1) for part in logits.split(few(logits))])


def check_finite(lm: CausalLM, finite: bool) -> None:
    """Raise SecateurError for a model that predicts NaN or infinity."""
    if not finite:
        raise SecateurError(
            f"lm {lm.name} ({lm.model.dtype}) predicts numbers that are not finite. "
            "Fix: lm.dtype float32 or bfloat16 for this device, or other weights."
        )


def _asked_tokens(sequence: Encoded) -> int:
    """Number of the question's tokens whose log-probability is defined."""
    return sequence.asked[1] - sequence.asked[0] if sequence.asked else 0


def _predicted(sequence: Encoded) -> list[int]:
    """The question's tokens, where defined, and the answer's."""
    low, high = sequence.asked or (1, 1)
    return [*sequence.ids[low:high], *sequence.ids[sequence.start :]]


def reading_of(sequence: Encoded, logits, norms, horizon: int) -> Reading:
    import torch

    tokens = torch.tensor(_predicted(sequence), dtype=torch.long, device=logits.device)
    question_tokens = _asked_tokens(sequence)
    logprobs = logits[: len(tokens)].gather(1, tokens[:, None])[:, 0].float() - norms[: len(tokens)]
    steps = slice(question_tokens, question_tokens + min(horizon, max(len(tokens) - question_tokens, 1)))
    path = logits[steps].float() - norms[steps, None]
    return Reading(logprobs[:question_tokens] if sequence.asked else None, logprobs[question_tokens:], path)
