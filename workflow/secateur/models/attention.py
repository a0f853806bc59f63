"""Attention of sequences that stand one behind the other in a row: each block of them to itself and to what it continues.

One product of all tokens of a pack with all others, under a mask, gives the same; most of it is masked, and it costs as
much as the rest of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["BLOCK", "Block", "attend_in_blocks", "blocks"]

BLOCK = 64  # most rows of a block: of 25 to 128 about the cheapest
NAME = "blocks"


@dataclass(frozen=True)
class Block:
    """Consecutive tokens of a row, and the keys that they may see some of: those of their prefix, those of what came after
    it, and their own."""

    rows: slice
    prefix: slice
    tails: slice
    own: slice


def blocks(
    lengths: Sequence[int], hung: Sequence[int | None], trunks: Sequence[int], tails: Sequence[int]
) -> list[Block]:
    """The blocks of sequences of so many tokens behind prefixes of so many.

    hung: for each sequence its prefix, by place; tails: tokens between the two that are its alone. A block is some short
    sequences that hang on one prefix, or on none; or a part of a long one, which sees no more than goes before it.
    """
    ends, stops = list(accumulate(trunks, initial=0)), list(accumulate(lengths, initial=0))
    after = list(accumulate(tails, initial=ends[-1]))
    found, first = [], 0
    for n, place in enumerate(hung):
        if n + 1 < len(hung) and hung[n + 1] == place and stops[n + 2] - stops[first] <= BLOCK:
            continue
        start, stop, before = stops[first], stops[n + 1], after[-1]
        prefix = slice(0, 0) if place is None else slice(ends[place], ends[place + 1])
        for low in range(start, stop, BLOCK):
            high = min(low + BLOCK, stop)
            own, between = slice(before + start, before + high), slice(after[first], after[n + 1])
            found.append(Block(slice(low, high), prefix, between, own))
        first = n + 1
    return found


def attend_in_blocks(model) -> None:
    """Let a model's layers attend block by block where a forward pass names `blocks`, and as before where it does not."""
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
    shared, width, found = key.shape[1], query.shape[3], []
    for block in blocks:
        # Heads that share their keys stand one behind the other as rows, so that no key is repeated.
        asked = query[0, :, block.rows].reshape(shared, -1, width)
        mask, keys, values = (_seen(block, all_) for all_ in (attention_mask[0, :, block.rows].mT, key[0], value[0]))
        # PyTorch's fused product is no faster on blocks of this size, and in bfloat16 a third as fast.
        weights = torch.bmm(asked, keys.mT).to(torch.promote_types(value.dtype, torch.float32)).mul_(scaling)
        weights.unflatten(1, (-1, mask.shape[-1])).add_(mask.mT)
        found.append(torch.bmm(weights.softmax(-1).to(value.dtype), values).reshape(query.shape[1], -1, width))
    return torch.cat(found, 1).transpose(0, 1)[None].contiguous(), None


def _seen(block: Block, keys):
    """What a block's tokens may look at, of (..., keys, any)."""
    import torch

    parts = [keys[:, part] for part in (block.prefix, block.tails, block.own) if part.stop > part.start]
    return torch.cat(parts, 1) if len(parts) > 1 else parts[0]
