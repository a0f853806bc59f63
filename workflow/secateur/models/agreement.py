"""Check that a model reads several sequences in one pass as it reads each alone, by its own eager attention.

A model whose layers need more than keys, values and a mask would give other scores without a word.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from secateur.config.code import plugin_digest
from secateur.core.artifacts import write_json
from secateur.core.cache import digest
from secateur.core.errors import SecateurError
from secateur.models.admission import ADMITTED
from secateur.models.attention import BLOCK, attend_in_blocks
from secateur.models.causal import NOTHING, CausalLM
from secateur.models.decoding import Rows

__all__ = ["check_once", "largest_difference"]

TOLERANCE = 1e-3  # nats a token, in float32
SLACK = 2  # in half precision: times what the model's own passes differ by
BATCHES = (2, 8)  # sizes of a batch of these passes
ROUNDINGS = 4  # passes whose input is rounded otherwise
SIDE = 8  # tokens of a sliding window during the check
LONG = BLOCK + 16  # tokens of a sequence that is read in more than one block


def check_once(lm: CausalLM, cache: Path) -> None:
    """Raise SecateurError for a model that reads other scores in packs; one that passed is not checked again.

    cache/checked holds a file for each model, data type, device, version of PyTorch and transformers, and code that reads.
    """
    versions = [version(name) for name in ("torch", "transformers")]
    passed = cache / "checked" / digest(plugin_digest(__name__), lm.identity, str(lm.model.device), *versions)
    if passed.is_file():
        return
    difference, allowed = largest_difference(lm)
    if not difference <= allowed:  # also for NaN
        raise SecateurError(
            f"lm {lm.name}: read in one pass with others, a token's log-probability differs by {difference:.2g} nats from "
            f"the model's own attention (allowed: {allowed:.2g}). Fix: use another model; this architecture "
            f"({lm.model.config.model_type}) cannot be scored here."
        )
    logging.getLogger("secateur").info("lm %s: packed and plain reading differ by %.1e nats", lm.name, difference)
    write_json(passed, {"model": lm.name} | ADMITTED[lm.name] | {"differs_by_nats": float(f"{difference:.2e}")})


def largest_difference(lm: CausalLM) -> tuple[float, float]:
    """The largest difference in a token's log-probability, packed minus plain, and the largest that is allowed; nats."""
    import torch

    try:
        with torch.inference_mode(), _narrow(lm):
            sequences = _sequences(lm)
            readings = list(_readings(lm, sequences))
            with _eager(lm.model):
                plain = [_alone(lm.model, ids) for ids in sequences]
                spread = 0.0 if lm.model.dtype == torch.float32 else _spread(lm.model, sequences, plain)
    except (SecateurError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # layers of any architecture
        cause = (str(error).strip() or "no message").splitlines()[0]
        raise SecateurError(
            f"lm {lm.name}: its layers ({lm.model.config.model_type}) cannot read several sequences in one pass "
            f"({type(error).__name__}: {cause}). Fix: use a model whose layers attend by keys, values and a mask."
        ) from error
    differences = [_farthest(values, plain[n][start : start + len(values)]) for n, start, values in readings]
    return max(differences), max(TOLERANCE, SLACK * spread)


def _sequences(lm: CausalLM) -> list[list[int]]:
    """Token ids of three sequences: one beyond a block, one that begins alike, and a short one."""
    import torch

    length = min(LONG, lm.encoder.window)
    ordinary = sorted(set(range(lm.model.get_input_embeddings().num_embeddings)) - set(lm.tokenizer.all_special_ids))
    places = torch.randint(len(ordinary), (2 * length,), generator=torch.Generator().manual_seed(0)).tolist()
    ids = [ordinary[place] for place in places]
    first, others = ids[:length], ids[length:]
    return [first, first[: length // 3] + others[: length // 5], others[length // 2 :][: length // 6]]


def _readings(lm: CausalLM, sequences: list[list[int]]) -> Iterator[tuple[int, int, Any]]:
    """Log-probabilities of tokens, by every way in which a model is read: (sequence, first row, (tokens,) values)."""
    first, second, _ = sequences
    shared, more = len(first) // 3, len(first) // 5
    (prefix,) = lm.prefill([first[:shared]])
    tails = [first[shared:], second[shared:]]
    starts = [0, len(first), len(first) + len(second)]

    packed = lm.logits(sequences, [NOTHING] * 3, range(sum(map(len, sequences))))
    after = lm.logits(tails, [prefix] * 2, range(sum(map(len, tails))))
    rows, _ = lm.chunk([tail[:more] for tail in tails], [[prefix]] * 2, range(more), [])
    decoded = Rows(lm, [prefix, *lm.prefill([second[: shared - 1]])], 2)
    first_step = decoded.step([tails[0][0], second[shared - 1]])
    second_step = decoded.step([tails[0][1], second[shared]])

    yield from ((n, 0, _read(packed[starts[n] :][: len(ids)], ids)) for n, ids in enumerate(sequences))
    cut = len(tails[0])
    for n, ids in enumerate((first, second)):
        yield n, shared, _read(after[:cut] if n == 0 else after[cut:], ids[shared:])
        yield n, shared, _read(rows[n], ids[shared : shared + more + 1])
        start = shared - n  # the second row is one token shorter, so it is padded
        yield n, start, _read(first_step[n : n + 1], ids[start : start + 2])
        yield n, start + 1, _read(second_step[n : n + 1], ids[start + 1 : start + 3])


def _read(logits, ids: list[int]):
    """(tokens,) log-probabilities of each token but the first, from the logits after the token before it."""
    import torch

    following = torch.tensor(ids[1:], device=logits.device)
    return logits[: len(following)].float().log_softmax(-1).gather(-1, following[:, None])[:, 0]


def _alone(model, ids: list[int], copies: int = 1):
    """The same from the model's own forward pass, of a batch of copies."""
    import torch

    return _read(model(input_ids=torch.tensor([ids] * copies, device=model.device), use_cache=False).logits[0], ids)


def _spread(model, sequences: list[list[int]], plain: list) -> float:
    """What the model's own log-probabilities differ by in half precision; nats.

    Between sizes of a batch, and where its input is rounded otherwise: on a CPU, sizes of a batch often change nothing.
    """
    import torch

    def otherwise(seed: int):
        noise = torch.Generator().manual_seed(seed)

        def rounded(_, __, output):
            shift = torch.rand(output.shape, generator=noise).to(output.device) - 0.5
            return (output.float() * (1 + torch.finfo(output.dtype).eps * shift)).to(output.dtype)

        return rounded

    spreads = [
        _farthest(_alone(model, ids, n), logprobs)
        for n in BATCHES
        for ids, logprobs in zip(sequences, plain, strict=True)
    ]
    for seed in range(ROUNDINGS):
        hook = model.get_input_embeddings().register_forward_hook(otherwise(seed))
        try:
            spreads += [_farthest(_alone(model, ids), logprobs) for ids, logprobs in zip(sequences, plain, strict=True)]
        finally:
            hook.remove()
    return max(spreads)


def _farthest(values, others) -> float:
    return (values - others).abs().max().item()


@contextmanager
def _eager(model) -> Iterator[None]:
    """The model with its own attention, without ours."""
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        attend_in_blocks(model)


@contextmanager
def _narrow(lm: CausalLM) -> Iterator[None]:
    """The model with a sliding window that is narrower than the sequences of the check, where it has one."""
    config = lm.model.config.get_text_config()
    width = getattr(config, "sliding_window", None)
    if width:
        config.sliding_window = SIDE
    try:
        yield
    finally:
        if width:
            config.sliding_window = width
