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
    """Consecutive tokens of a row, and the keys that they may see: of their prefix, of their tails, and their own."""

    rows: slice
    prefix: slice
    tails: slice
    own: slice


def blocks(
    lengths: Sequence[int], hung: Sequence[int | None], trunks: Sequence[int], tails: Sequence[int]
) -> list[Block]:
    """The blocks of packed sequences.

    lengths: tokens of each sequence; hung: index of its prefix, or None; trunks: tokens of each prefix; tails: tokens
    between a prefix and its sequence, seen by that sequence alone. A block is several short sequences with one prefix (or
    none), or a part of a long sequence, which sees only what precedes it.
    """
    ends, stops = list(accumulate(trunks, initial=0)), list(accumulate(lengths, initial=0))
    after = list(accumulate(tails, initial=ends[-1]))
    result, first = [], 0
    for n, place in enumerate(hung):
        if n + 1 < len(hung) and hung[n + 1] == place and stops[n + 2] - stops[first] <= BLOCK:
            continue
        start, stop, before = stops[first], stops[n + 1], after[-1]
        prefix = slice(0, 0) if place is None else slice(ends[place], ends[place + 1])
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            own, between = slice(before + start, before + high), slice(after[first], after[n + 1])
            result.append(Block(slice(low, high), prefix, between, own))
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
    """(1, rows, heads, d) of query (1, heads, rows, d), key and value (1, shared heads, keys, d), under an additive mask."""
    import torch
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    if blocks is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **kwargs)
    shared, width, outputs = key.shape[1], query.shape[3], []
    for block in blocks:
        # Heads that share keys are stacked as rows, so that no key is repeated.
        queries = query[0, :, block.rows].reshape(shared, -1, width)
        mask, keys, values = (_seen(block, all_) for all_ in (attention_mask[0, :, block.rows].mT, key[0], value[0]))
        # PyTorch's fused attention is no faster on blocks of this size, and in bfloat16 a third as fast.
        weights = torch.bmm(queries, keys.mT).to(torch.promote_types(value.dtype, torch.float32)).mul_(scaling)
        weights.unflatten(1, (-1, mask.shape[-1])).add_(mask.mT)
        outputs.append(torch.bmm(weights.softmax(-1).to(value.dtype), values).reshape(query.shape[1], -1, width))
    return torch.cat(outputs, 1).transpose(0, 1)[None].contiguous(), None


def _seen(block: Block, keys):
    """The keys (or values, or mask) that a block's tokens may see, of an array (..., keys, any)."""
    import torch

    parts = [keys[:, part] for part in (block.prefix, block.tails, block.own) if part.stop > part.start]
    return torch.cat(parts, 1) if len(parts) > 1 else parts[0]
