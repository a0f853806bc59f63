"""Read many encoded sequences with a model: share what they begin with, yield the predictions each of them needs.

Passage caching (passage first) and prefix sharing (question first; a common context C) are one thing here: sequences of
one family share their longest common prefix, whose keys and values are computed once (ECS, proposition 2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from secateur.core.errors import SecateurError
from secateur.models.causal import NOTHING, CausalLM, Prefix
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = ["SHAPE", "Reading", "apart", "cost", "named", "packs", "prefilled", "read", "read_on"]

FEW = 4  # rows of predictions that a processor's cache holds
SHAPE = CHUNK, STEP = 64, 8  # tokens of a chunk; widths are multiples of the step, so that no kernel meets an odd end


@dataclass(frozen=True)
class Reading:
    """What one sequence says. asked: (question tokens,) log-probabilities, None where undefined; answer: (answer
    tokens,) log-probabilities; path: (up to `horizon`, vocabulary) log-distributions from the first answer position on.
    All fp32, in nats. A server gives no path, and in its place top: the most probable first answer tokens, by token."""

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
    """Sequences of one family with their longest common prefix, short of what any of them must predict from."""
    order = sorted(range(len(sequences)), key=lambda n: families[n])
    found = []
    for _, group in groupby(order, key=lambda n: families[n]):
        members = list(group)
        limit = min(sequences[n].predicting[0] for n in members) if len(members) > 1 else 0
        first, last = min(sequences[n].read[:limit] for n in members), max(sequences[n].read[:limit] for n in members)
        shared = next((k for k, (a, b) in enumerate(zip(first, last, strict=True)) if a != b), limit)
        found.append(_Family(members, shared))
    return found


def packs(items: Sequence[Any], sizes: Sequence[int], most: int) -> Iterator[list[Any]]:
    """Consecutive items whose sizes sum up to `most` at most; a larger item alone."""
    pack, total = [], 0
    for item, size in zip(items, sizes, strict=True):
        if pack and total + size > most:
            yield pack
            pack, total = [], 0
        pack.append(item)
        total += size
    if pack:
        yield pack


def cost(sequences: Sequence[Encoded], families: Sequence[Any]) -> int:
    """Tokens a model computes to read the sequences."""
    plan = _families(sequences, families)
    return sum(f.shared + sum(len(sequences[n].read) - f.shared for n in f.members) for f in plan)


def read(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """(place, reading) of every sequence, in the order in which they come; families: what may share a prefix.

    Memory is bounded by one pack of prefixes and the predictions of one pack of sequences.
    Raises SecateurError where the model gives anything but numbers.
    """
    if isinstance(lm, Served):
        yield from enumerate(map(_told, sequences, lm.read(sequences)))
        return
    plan = _families(sequences, families)
    for block in packs(plan, [f.shared for f in plan], lm.pack):
        trunks = [f for f in block if f.shared]
        filled = lm.prefill([sequences[f.members[0]].read[: f.shared] for f in trunks]) if trunks else []
        prefix = dict(zip((id(f) for f in trunks), filled, strict=True))
        work = [(n, prefix.get(id(f), NOTHING)) for f in block for n in f.members]
        for pack in packs(work, [len(sequences[n].read) - p.length for n, p in work], lm.pack):
            yield from _pack(lm, sequences, pack, horizon)


def prefilled(lm: CausalLM, contexts: Sequence[Sequence[int]]) -> list[Prefix]:
    """Keys and values of each context but its last token, which tells what comes next; equal ones are read once."""
    heads = list(dict.fromkeys(tuple(context[:-1]) for context in contexts if len(context) > 1))
    filled = [p for part in packs(heads, [len(head) for head in heads], lm.pack) for p in lm.prefill(part)]
    known = dict(zip(heads, filled, strict=True))
    return [known.get(tuple(context[:-1]), NOTHING) for context in contexts]


def read_on(
    lm: CausalLM, sequences: Sequence[Encoded], held: Sequence[tuple[Sequence[int], Prefix]], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """As `read`, of sequences that go on from contexts whose keys and values are held, each with its context.

    One that begins otherwise, since the window cut it elsewhere, is read by itself.
    """
    work = []
    for n, (one, (context, prefix)) in enumerate(zip(sequences, held, strict=True)):
        goes_on = one.read[: prefix.length] == tuple(context[: prefix.length]) and one.predicting[0] >= prefix.length
        work.append((n, prefix if goes_on else NOTHING))
    for pack in packs(work, [len(sequences[n].read) - p.length for n, p in work], lm.pack):
        yield from _pack(lm, sequences, pack, horizon)


def apart(lm: CausalLM | Served, sequences: Sequence[Encoded], horizon: int) -> Iterator[tuple[int, Reading]]:
    """As `read`, and each reading a function of its sequence alone, to the bit: for values that are cached one by one.

    In a pack a token's sums hang on where it stands. Here sequences are cut at multiples of CHUNK, and a chunk is a row
    of a batch whose rows are equally wide and equally deep. Chunks with all before them alike are computed once.
    """
    import torch

    if isinstance(lm, Served):
        yield from enumerate(map(_told, sequences, lm.read(sequences)))
        return
    filled: dict[tuple[int, ...], Any] = {}  # keys and values of a chunk, by all tokens up to its end
    logits: list[list[Any]] = [[] for _ in sequences]
    for start in range(0, max((len(one.read) for one in sequences), default=0), CHUNK):
        pieces = _pieces(sequences, start)
        on = {n for own in pieces.values() for n in own if len(sequences[n].read) > start + CHUNK}
        for width, batch in _alike(pieces, start, lm.pack):
            places = {n: _places(sequences[n], start) for piece in batch for n in pieces[piece]}
            low, high = _span([place for own in places.values() for place in own])
            rows = [[*piece[start:], *[0] * (start + width - len(piece))] for piece in batch]
            before = [[filled[piece[:end]] for end in range(CHUNK, start + 1, CHUNK)] for piece in batch]
            more = [row for row, piece in enumerate(batch) if any(map(on.__contains__, pieces[piece]))]
            said, after = lm.chunk(rows, before, range(low, high), more)
            filled |= zip((batch[row] for row in more), after, strict=True)
            for piece, own in zip(batch, said, strict=True):
                for n in pieces[piece]:
                    logits[n].append(own[[place - low for place in places[n]]])
        for n in [n for own in pieces.values() for n in own if n not in on]:
            yield n, _reading(sequences[n], *_normed(lm, torch.cat(logits[n])), horizon)
            logits[n].clear()


def _pieces(sequences: Sequence[Encoded], start: int) -> dict[tuple[int, ...], list[int]]:
    """Tokens up to the end of the chunk at `start`, and the sequences that begin with them and go that far."""
    found: dict[tuple[int, ...], list[int]] = {}
    for n, one in enumerate(sequences):
        if len(one.read) > start:
            found.setdefault(one.read[: start + CHUNK], []).append(n)
    return found


def _alike(pieces: Sequence[tuple[int, ...]], start: int, most: int) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
    """(width, pieces whose last chunk is padded to it), so many that the chunks have `most` tokens at most."""
    width = {piece: -(-(len(piece) - start) // STEP) * STEP for piece in pieces}
    for wide, group in groupby(sorted(pieces, key=width.__getitem__), key=width.__getitem__):
        own = list(group)
        yield from ((wide, pack) for pack in packs(own, [wide] * len(own), most))


def _places(one: Encoded, start: int) -> list[int]:
    """Where in the chunk at `start` a sequence's predictions are needed."""
    return [place - start for place in one.predicting if start <= place < start + CHUNK]


def _span(places: Sequence[int]) -> tuple[int, int]:
    """The steps that hold these places: the first, and one past the last."""
    return (min(places) // STEP * STEP, max(places) // STEP * STEP + STEP) if places else (0, 0)


def named(
    lm: CausalLM | Served, sequences: Sequence[Encoded], families: Sequence[Any], tokens: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """(place, (len(tokens),) log-probabilities of tokens at the first answer position) of every sequence."""
    import torch

    if isinstance(lm, Served):
        yield from enumerate(map(torch.tensor, lm.named(sequences, tokens)))
        return
    for n, reading in read(lm, sequences, families, 1):
        yield n, reading.path[0][list(tokens)]


def _told(one: Encoded, said: tuple[Sequence[float], Mapping[int, float]]) -> Reading:
    """What a server says of a sequence."""
    import torch

    values, top = torch.tensor(said[0], dtype=torch.float32), said[1]
    asked = one.asked[1] - one.asked[0] if one.asked else 0
    return Reading(values[:asked] if asked else None, values[len(values) - len(one.ids) + one.start :], None, top)


def _pack(lm: CausalLM, sequences: Sequence[Encoded], pack, horizon: int) -> Iterator[tuple[int, Reading]]:
    """The readings of one forward pass."""
    rows, counts, start = [], [], 0
    for n, prefix in pack:
        predicting = sequences[n].predicting
        rows += [start + position - prefix.length for position in predicting]
        counts.append(len(predicting))
        start += len(sequences[n].read) - prefix.length
    logits = lm.logits([sequences[n].read[p.length :] for n, p in pack], [p for _, p in pack], rows)
    logits, total = _normed(lm, logits)
    for (n, _), own, norm in zip(pack, logits.split(counts), total.split(counts), strict=True):
        yield n, _reading(sequences[n], own, norm, horizon)


def _normed(lm: CausalLM, logits):
    """Logits (rows, vocabulary) and the logarithm of what they sum up to, a few rows at a time: those stay in the cache."""
    import torch

    total = torch.cat([part.float().logsumexp(-1) for part in logits.split(FEW)])
    if not total.isfinite().all():
        raise SecateurError(
            f"lm {lm.name} ({lm.model.dtype}) predicts numbers that are not finite. "
            "Fix: lm.dtype float32 or bfloat16 for this device, or other weights."
        )
    return logits, total


def _reading(one: Encoded, logits, norm, horizon: int) -> Reading:
    import torch

    low, high = one.asked or (1, 1)
    targets = torch.tensor([*one.ids[low:high], *one.ids[one.start :]], dtype=torch.long, device=logits.device)
    asked, given = high - low, len(one.ids) - one.start
    said = logits[: len(targets)].gather(1, targets[:, None])[:, 0].float() - norm[: len(targets)]
    steps = slice(asked, asked + min(horizon, max(given, 1)))
    path = logits[steps].float() - norm[steps, None]
    return Reading(said[:asked] if one.asked else None, said[asked:], path)
