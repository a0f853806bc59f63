"""Attention over packed sequences, block by block: each block sees itself and the prefix that it continues.

One masked product of all tokens with all others gives the same result. Most of it is masked, and it costs as much as the
rest of the model. A GPU in half precision takes the lengths of sequences instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import accumulate
from typing import Any

import numpy as np

__all__ = ["BLOCK", "Block", "Lengths", "NeedsMask", "attend_in_blocks", "attends_by_lengths", "blocks", "by_lengths"]

BLOCK = 64  # most rows of a block; among 25 to 128 about the fastest
NAME = "blocks"
HEAD = 256  # widest head of flash attention, in multiples of 8
AMPERE = 8  # first generation of GPUs that it runs on


class NeedsMask(Exception):
    """A layer bounds its scores, has sinks or has heads of a size that attention by lengths cannot give."""


@dataclass(frozen=True)
class Block:
    """Consecutive tokens of a row, and the keys that they may see: of their prefix, and their own."""

    rows: slice
    prefix: slice
    own: slice


def blocks(lengths: Sequence[int], prefixes: Sequence[int | None], prefix_lengths: Sequence[int]) -> list[Block]:
    """The blocks of packed sequences.

    lengths: tokens of each sequence; prefixes: index of its prefix, or None; prefix_lengths: tokens of each prefix. A block
    is several short sequences with one prefix (or none), or a part of a long sequence, which sees only what precedes it.
    """
    ends, stops = list(accumulate(prefix_lengths, initial=0)), list(accumulate(lengths, initial=0))
    result, first = [], 0
    for n, place in enumerate(prefixes):
        if n + 1 < len(prefixes) and prefixes[n + 1] == place and stops[n + 2] - stops[first] <= BLOCK:
            continue
        start, stop, before = stops[first], stops[n + 1], ends[-1]
        prefix = slice(0, 0) if place is None else slice(ends[place], ends[place + 1])
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            result.append(Block(slice(low, high), prefix, slice(before + start, before + high)))
        first = n + 1
    return result


@dataclass(frozen=True)
class Lengths:
    """Packed sequences for attention by lengths, which needs no mask.

    gather: (n,) the keys of each sequence, its prefix's and its own, one sequence after the other; None where that is their
    order anyway. query_ends, key_ends: (sequences + 1,) int32, where queries and keys of each begin and end. longest: most
    queries and most keys of one.
    """

    gather: Any
    query_ends: Any
    key_ends: Any
    longest: tuple[int, int]


def by_lengths(
    lengths: Sequence[int], prefixes: Sequence[int | None], prefix_lengths: Sequence[int], device
) -> Lengths:
    """The plan of packed sequences for attention by lengths; arguments as of `blocks`."""
    import torch

    ends = np.cumsum([0, *prefix_lengths])
    offsets = ends[-1] + np.cumsum([0, *lengths])
    key_places = [
        ([] if place is None else [np.arange(ends[place], ends[place + 1])]) + [np.arange(offsets[n], offsets[n + 1])]
        for n, place in enumerate(prefixes)
    ]
    seen = [sum(map(len, part)) for part in key_places]
    gather = np.concatenate([keys for part in key_places for keys in part])
    in_order = len(gather) == offsets[-1] and bool((gather == np.arange(offsets[-1])).all())
    sizes = len(gather), len(lengths) + 1, len(lengths) + 1
    sent = torch.from_numpy(np.concatenate([gather, np.cumsum([0, *lengths]), np.cumsum([0, *seen])])).to(device)
    gathered, query_ends, key_ends = sent.split(sizes)
    return Lengths(None if in_order else gathered, query_ends.int(), key_ends.int(), (max(lengths), max(seen)))


def attend_in_blocks(model) -> None:
    """Make a model's layers attend block by block where a forward pass gives `blocks`, and as before elsewhere."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)


def _attend(
    module, query, key, value, attention_mask, scaling=None, blocks: Sequence[Block] | Lengths | None = None, **kwargs
):
    """(batch, rows, heads, d) of query (batch, heads, rows, d), key and value (batch, shared heads, keys, d).

    attention_mask: additive for a list of blocks, which reads a batch of one; unused with `Lengths`; elsewhere as
    `sdpa_mask` makes it. Raises NeedsMask where attention by lengths cannot give what the layer asks for.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    softcap, sinks = kwargs.get("softcap"), kwargs.get("s_aux")
    if isinstance(blocks, Lengths):
        odd = query.shape[-1] != value.shape[-1] or query.shape[-1] > HEAD or query.shape[-1] % 8
        if softcap is not None or sinks is not None or odd:
            raise NeedsMask
        return _attend_by_lengths(query, key, value, blocks, scaling, kwargs.get("sliding_window")), None
    # One query a row, as when decoding, is a small product with many keys: it shares them instead of repeating them.
    if blocks is None and softcap is None and sinks is None and query.shape[2] > 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    shared, keys = key.shape[1:3]
    rows = range(query.shape[2])
    if blocks is None:
        mask = _additive(attention_mask, len(rows), keys, query)
        queries = query.unflatten(1, (shared, -1)).flatten(2, 3)  # heads that share keys, stacked as rows
        scores = torch.matmul(queries, key.mT).to(torch.promote_types(value.dtype, torch.float32)).mul_(scaling)
        weights = _weights(scores.unflatten(2, (-1, len(rows))), mask[:, :, None], softcap, sinks).flatten(2, 3)
        output = torch.matmul(weights.to(value.dtype), value).unflatten(2, (-1, len(rows))).flatten(1, 2)
        return output.transpose(1, 2).contiguous(), None
    outputs = []
    for block in blocks:
        # Heads that share keys are stacked as rows, so that no key is repeated.
        queries = query[0, :, block.rows].reshape(shared, -1, query.shape[3])
        mask, keys, values = (_seen(block, all_) for all_ in (attention_mask[0, :, block.rows].mT, key[0], value[0]))
        # PyTorch's fused attention is no faster on blocks of this size, and in bfloat16 a third as fast.
        scores = torch.bmm(queries, keys.mT).to(torch.promote_types(value.dtype, torch.float32)).mul_(scaling)
        weights = _weights(scores.unflatten(1, (-1, mask.shape[-1])), mask.mT, softcap, sinks).flatten(1, 2)
        outputs.append(torch.bmm(weights.to(value.dtype), values).reshape(query.shape[1], -1, values.shape[-1]))
    return torch.cat(outputs, 1).transpose(0, 1)[None].contiguous(), None


def _attend_by_lengths(query, key, value, plan: Lengths, scaling: float | None, window: int | None):
    """(1, rows, heads, d) by PyTorch's attention over sequences of different lengths, in half precision on a GPU."""
    queries, keys, values = (x[0].transpose(0, 1) for x in (query, key, value))  # (tokens, heads, d)
    if plan.gather is not None:
        keys, values = keys.index_select(0, plan.gather), values.index_select(0, plan.gather)
    output = varlen_attention(
        *(x.contiguous() for x in (queries, keys, values)),
        *(plan.query_ends, plan.key_ends, *plan.longest),
        scale=scaling,
        window_size=(-1 if window is None else window - 1, 0),
        enable_gqa=queries.shape[1] != keys.shape[1],
    )
    return output[None]


def attends_by_lengths(model) -> bool:
    """Whether a model's device and type have attention by lengths, and this PyTorch its public call."""
    import torch

    if model.device.type != "cuda" or model.dtype not in (torch.float16, torch.bfloat16):
        return False
    if torch.cuda.get_device_capability(model.device)[0] < AMPERE:
        return False
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return False
    return "enable_gqa" in signature(varlen_attn).parameters


def varlen_attention(*args, **kwargs):
    """PyTorch's public call; imported late, since it needs a build for GPUs."""
    from torch.nn.attention.varlen import varlen_attn

    return varlen_attn(*args, **kwargs)


def _weights(scores, mask, softcap: float | None, sinks):
    """Softmax over the keys of scores (..., shared heads, heads of each, rows, keys) under an additive mask.

    softcap: bound of a score before the mask (Gemma 2). sinks: a score of each head that takes weight and has no value
    (gpt-oss).
    """
    import torch

    if softcap is not None:
        scores = scores.div_(softcap).tanh_().mul_(softcap)
    scores = scores.add_(mask)
    if sinks is None:
        return scores.softmax(-1)
    column = sinks.to(scores.dtype).reshape(*scores.shape[-4:-2], 1, 1).expand(*scores.shape[:-1], 1)
    return torch.cat([scores, column], -1).softmax(-1)[..., :-1]


def _additive(mask, rows: int, keys: int, like):
    """A mask that is added to scores, (batch or 1, heads or 1, rows, keys), of one that `sdpa_mask` makes: None is causal."""
    import torch

    if mask is not None and mask.dtype != torch.bool:
        return mask[..., :keys]
    if mask is None:
        mask = torch.ones(rows, keys, dtype=torch.bool, device=like.device).tril(keys - rows)[None, None]
    return torch.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill_(
        ~mask, torch.finfo(like.dtype).min
    )


def _seen(block: Block, keys):
    """The keys (or values, or mask) that a block's tokens may see, of an array (..., keys, any)."""
    import torch

    visible = [keys[:, part] for part in (block.prefix, block.own) if part.stop > part.start]
    return torch.cat(visible, 1) if len(visible) > 1 else visible[0]
