"""Read encoded sequences so that each value is a function of its sequence alone, to the bit: for values cached one by one."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from secateur.ecs.reading.engine import Reading, check_finite, log_normalisers, packs, read, reading_of
from secateur.models.causal import CausalLM
from secateur.models.encoding import Encoded
from secateur.models.served import Served

__all__ = ["SHAPE", "read_independently"]

SHAPE = CHUNK, STEP = 64, 8  # tokens of a chunk; widths are multiples of the step, so that no kernel meets an odd end


def read_independently(
    lm: CausalLM | Served, sequences: Sequence[Encoded], horizon: int
) -> Iterator[tuple[int, Reading]]:
    """`read` with each reading a function of its sequence alone, to the bit, for values that are cached one by one.

    In a pack, sums depend on a token's position. Here sequences are cut at multiples of CHUNK, and the chunks of a batch
    are equally wide and equally deep. A chunk is computed once for all sequences that agree up to its end. Where sums also
    depend on the number of rows (`lm.exact`), batches are filled to one size. A GPU without `lm.exact` reads packs: its
    readings are equal within the tolerance of `models/agreement.py`.
    """
    import torch

    if isinstance(lm, Served) or (lm.model.device.type == "cuda" and not lm.exact):
        yield from read(lm, sequences, range(len(sequences)), horizon)
        return
    cache: dict[tuple[int, ...], Any] = {}  # keys and values of a chunk, by all tokens up to its end
    logits: list[list[Any]] = [[] for _ in sequences]
    for start in range(0, max((len(sequence.read) for sequence in sequences), default=0), CHUNK):
        members = _chunks(sequences, start)
        continuing = {n for places in members.values() for n in places if len(sequences[n].read) > start + CHUNK}
        for width, batch in _batches(members, start, lm.pack):
            positions = {n: _positions(sequences[n], start) for chunk in batch for n in members[chunk]}
            low, high = _span([position for each in positions.values() for position in each])
            whole = batch
            if lm.exact:
                low, high = 0, width
                whole = [*batch, *[batch[-1]] * (max(1, lm.pack // width) - len(batch))]
            rows = [[*chunk[start:], *[0] * (start + width - len(chunk))] for chunk in whole]
            before = [[cache[chunk[:end]] for end in range(CHUNK, start + 1, CHUNK)] for chunk in whole]
            stored = [row for row, chunk in enumerate(batch) if not continuing.isdisjoint(members[chunk])]
            predictions, prefixes = lm.chunk(rows, before, range(low, high), stored)
            cache |= zip((batch[row] for row in stored), prefixes, strict=True)
            for chunk, prediction in zip(batch, predictions, strict=False):
                for n in members[chunk]:
                    logits[n].append(prediction[[position - low for position in positions[n]]])
        for n in [n for places in members.values() for n in places if n not in continuing]:
            sequence_logits = torch.cat(logits[n])
            norms = log_normalisers(sequence_logits)
            check_finite(lm, bool(norms.isfinite().all()))
            yield n, reading_of(sequences[n], sequence_logits, norms, horizon)
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
