"""Attention over packed sequences, block by block: each block sees itself and the prefix that it continues.

One masked product of all tokens with all others gives the same result. Most of it is masked, and it costs as much as the
rest of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["BLOCK", "Block", "attend_in_blocks", "blocks"]

BLOCK = 64  # most rows of a block; among 25 to 128 about the fastest
NAME = "blocks"


@dataclass(frozen=True)
class Block:
    """Consecutive tokens of a row, and the keys that they may see: of their prefix, of what stands between, and their own."""

    rows: slice
    prefix: slice
    between: slice
    own: slice


def blocks(
    lengths: Sequence[int], prefixes: Sequence[int | None], prefix_lengths: Sequence[int], between: Sequence[int]
) -> list[Block]:
    """The blocks of packed sequences.

    lengths: tokens of each sequence; prefixes: index of its prefix, or None; prefix_lengths: tokens of each prefix;
    between: tokens between a prefix and its sequence, seen by that sequence alone. A block is several short sequences with one prefix (or
    none), or a part of a long sequence, which sees only what precedes it.
    """
    ends, stops = list(accumulate(prefix_lengths, initial=0)), list(accumulate(lengths, initial=0))
    after = list(accumulate(between, initial=ends[-1]))
    result, first = [], 0
    for n, place in enumerate(prefixes):
        if n + 1 < len(prefixes) and prefixes[n + 1] == place and stops[n + 2] - stops[first] <= BLOCK:
            continue
        start, stop, before = stops[first], stops[n + 1], after[-1]
        prefix = slice(0, 0) if place is None else slice(ends[place], ends[place + 1])
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            own, inserted = slice(before + start, before + high), slice(after[first], after[n + 1])
            result.append(Block(slice(low, high), prefix, inserted, own))
        first = n + 1
    return result


def attend_in_blocks(model) -> None:
    """Make a model's layers attend block by block where a forward pass gives `blocks`, and as before elsewhere."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)


def _attend(module, query, key, value, attention_mask, scaling=None, blocks: Sequence[Block] | None = None, **kwargs):
    """(batch, rows, heads, d) of query (batch, heads, rows, d), key and value (batch, shared heads, keys, d).

    attention_mask: additive for `blocks`, which read a batch of one; elsewhere as `sdpa_mask` makes it.
    """
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    softcap, sinks = kwargs.get("softcap"), kwargs.get("s_aux")
    if blocks is None and softcap is None and sinks is None:
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

    parts = [keys[:, part] for part in (block.prefix, block.between, block.own) if part.stop > part.start]
    return torch.cat(parts, 1) if len(parts) > 1 else parts[0]
