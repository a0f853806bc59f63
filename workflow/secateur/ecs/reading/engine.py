"""Read encoded sequences with a model: compute common prefixes once, and yield each sequence's log-probabilities.

Sequences of one family share the keys and values of their longest common prefix: a passage that stands first, a question
that stands first, or a common context C (ECS, proposition 2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from secateur.core.errors import SecateurError
from secateur.models.causal import NOTHING, CausalLM, Prefix
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = ["SHAPE", "Reading", "cost", "first_logprobs", "packs", "prefilled", "read", "read_independently", "read_on"]

FEW = 4  # rows of logits that a processor's cache holds
SHAPE = CHUNK, STEP = 64, 8  # tokens of a chunk; widths are multiples of the step, so that no kernel meets an odd end


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


def read(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """Yield (place, reading) of every sequence, in any order; sequences of the same family may share a prefix.

    Memory holds one pack of prefixes and the logits of one pack of sequences.
    Raises SecateurError if the model predicts NaN or infinity.
    """
    if isinstance(lm, Served):
        yield from enumerate(map(_served_reading, sequences, lm.read(sequences)))
        return
    plan = _families(sequences, families)
    for block in packs(plan, [f.shared for f in plan], lm.pack):
        tokens = [sequences[family.members[0]].read[: family.shared] for family in block if family.shared]
        prefixes = iter(lm.prefill(tokens) if tokens else ())
        work = []
        for family in block:
            prefix = next(prefixes) if family.shared else NOTHING
            work += [(n, prefix) for n in family.members]
        yield from _read_packs(lm, sequences, work, horizon)


def prefilled(lm: CausalLM, contexts: Sequence[Sequence[int]]) -> list[Prefix]:
    """Keys and values of each context but its last token, which predicts the next; equal prefixes are read once."""
    heads = list(dict.fromkeys(tuple(context[:-1]) for context in contexts if len(context) > 1))
    prefixes = [p for part in packs(heads, [len(head) for head in heads], lm.pack) for p in lm.prefill(part)]
    by_head = dict(zip(heads, prefixes, strict=True))
    return [by_head.get(tuple(context[:-1]), NOTHING) for context in contexts]


def read_on(
    lm: CausalLM, sequences: Sequence[Encoded], contexts: Sequence[tuple[Sequence[int], Prefix]], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """`read` for sequences that continue prefilled contexts (tokens, prefix), one for each sequence.

    A sequence that begins otherwise, because the window cut it elsewhere, is read from its start.
    """
    work = []
    for n, (sequence, (context, prefix)) in enumerate(zip(sequences, contexts, strict=True)):
        begins_alike = sequence.read[: prefix.length] == tuple(context[: prefix.length])
        work.append((n, prefix if begins_alike and sequence.predicting[0] >= prefix.length else NOTHING))
    yield from _read_packs(lm, sequences, work, horizon)


def read_independently(
    lm: CausalLM | Served, sequences: Sequence[Encoded], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """`read` with each reading a function of its sequence alone, to the bit, for values that are cached one by one.

    In a pack, sums depend on a token's position. Here sequences are cut at multiples of CHUNK, and the chunks of a batch
    are equally wide and equally deep. A chunk is computed once for all sequences that agree up to its end.
    """
    import torch

    if isinstance(lm, Served):
        yield from enumerate(map(_served_reading, sequences, lm.read(sequences)))
        return
    cache: dict[tuple[int, ...], Any] = {}  # keys and values of a chunk, by all tokens up to its end
    logits: list[list[Any]] = [[] for _ in sequences]
    for start in range(0, max((len(sequence.read) for sequence in sequences), default=0), CHUNK):
        members = _chunks(sequences, start)
        continuing = {n for places in members.values() for n in places if len(sequences[n].read) > start + CHUNK}
        for width, batch in _batches(members, start, lm.pack):
            positions = {n: _positions(sequences[n], start) for chunk in batch for n in members[chunk]}
            low, high = _span([position for each in positions.values() for position in each])
            rows = [[*chunk[start:], *[0] * (start + width - len(chunk))] for chunk in batch]
            before = [[cache[chunk[:end]] for end in range(CHUNK, start + 1, CHUNK)] for chunk in batch]
            stored = [row for row, chunk in enumerate(batch) if not continuing.isdisjoint(members[chunk])]
            predictions, prefixes = lm.chunk(rows, before, range(low, high), stored)
            cache |= zip((batch[row] for row in stored), prefixes, strict=True)
            for chunk, prediction in zip(batch, predictions, strict=True):
                for n in members[chunk]:
                    logits[n].append(prediction[[position - low for position in positions[n]]])
        for n in [n for places in members.values() for n in places if n not in continuing]:
            yield n, _reading(sequences[n], *_normed(lm, torch.cat(logits[n])), horizon)
            logits[n].clear()


def _chunks(sequences: Sequence[Encoded], start: int) -> dict[tuple[int, ...], list[int]]:
    """Sequences, by place, grouped by all their tokens up to the end of the chunk at `start`."""
    members: dict[tuple[int, ...], list[int]] = {}
    for n, sequence in enumerate(sequences):
        if len(sequence.read) > start:
            members.setdefault(sequence.read[: start + CHUNK], []).append(n)
    return members


def _batches(
    chunks: Sequence[tuple[int, ...]], start: int, max_tokens: int
) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """(width, chunks that are padded to it), with at most `max_tokens` tokens in a batch."""
    widths = {chunk: -(-(len(chunk) - start) // STEP) * STEP for chunk in chunks}
    for width, group in groupby(sorted(chunks, key=widths.__getitem__), key=widths.__getitem__):
        equal = list(group)
        yield from ((width, batch) for batch in packs(equal, [width] * len(equal), max_tokens))


def _positions(sequence: Encoded, start: int) -> list[int]:
    """Positions in the chunk at `start` that a sequence predicts from."""
    return [position - start for position in sequence.predicting if start <= position < start + CHUNK]


def _span(positions: Sequence[int]) -> tuple[int, int]:
    """The range [first, last) in whole steps that covers the positions."""
    return (min(positions) // STEP * STEP, max(positions) // STEP * STEP + STEP) if positions else (0, 0)


def first_logprobs(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], tokens: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """Yield (place, (len(tokens),) log-probabilities of these tokens at the first answer position) of every sequence."""
    import torch

    if isinstance(lm, Served):
        yield from enumerate(map(torch.tensor, lm.named(sequences, tokens)))
        return
    for n, reading in read(lm, sequences, families, 1):
        yield n, reading.path[0][list(tokens)]


def _served_reading(sequence: Encoded, reply: tuple[Sequence[float], Mapping[int, float]]) -> Reading:
    """The reading from a server's reply."""
    import torch

    logprobs, top = torch.tensor(reply[0], dtype=torch.float32), reply[1]
    question_tokens = sequence.asked[1] - sequence.asked[0] if sequence.asked else 0
    answer = logprobs[len(logprobs) - len(sequence.ids) + sequence.start :]
    return Reading(logprobs[:question_tokens] if question_tokens else None, answer, None, top)


def _read_packs(
    lm: CausalLM, sequences: Sequence[Encoded], work: Sequence[tuple[int, Prefix]], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """Readings of (place, prefix), pack by pack."""
    for pack in packs(work, [len(sequences[n].read) - prefix.length for n, prefix in work], lm.pack):
        yield from _read_pack(lm, sequences, pack, horizon)


def _read_pack(
    lm: CausalLM, sequences: Sequence[Encoded], pack: Sequence[tuple[int, Prefix]], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """Readings of one forward pass; its logits are freed before the next."""
    rows, counts, start = [], [], 0
    for n, prefix in pack:
        predicting = sequences[n].predicting
        rows += [start + position - prefix.length for position in predicting]
        counts.append(len(predicting))
        start += len(sequences[n].read) - prefix.length
    tails = [sequences[n].read[prefix.length :] for n, prefix in pack]
    logits, norms = _normed(lm, lm.logits(tails, [prefix for _, prefix in pack], rows))
    for (n, _), part, norm in zip(pack, logits.split(counts), norms.split(counts), strict=True):
        yield n, _reading(sequences[n], part, norm, horizon)


def _normed(lm: CausalLM, logits):
    """Logits (rows, vocabulary) and their log-sum-exp (rows,), computed a few rows at a time to stay in the cache."""
    import torch

    norms = torch.cat([part.float().logsumexp(-1) for part in logits.split(FEW)])
    if not norms.isfinite().all():
        raise SecateurError(
            f"lm {lm.name} ({lm.model.dtype}) predicts numbers that are not finite. "
            "Fix: lm.dtype float32 or bfloat16 for this device, or other weights."
        )
    return logits, norms


def _reading(sequence: Encoded, logits, norms, horizon: int) -> Reading:
    import torch

    low, high = sequence.asked or (1, 1)
    tokens = [*sequence.ids[low:high], *sequence.ids[sequence.start :]]
    targets = torch.tensor(tokens, dtype=torch.long, device=logits.device)
    question_tokens, answer_tokens = high - low, len(sequence.ids) - sequence.start
    logprobs = logits[: len(targets)].gather(1, targets[:, None])[:, 0].float() - norms[: len(targets)]
    steps = slice(question_tokens, question_tokens + min(horizon, max(answer_tokens, 1)))
    path = logits[steps].float() - norms[steps, None]
    return Reading(logprobs[:question_tokens] if sequence.asked else None, logprobs[question_tokens:], path)
