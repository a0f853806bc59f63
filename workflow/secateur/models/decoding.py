"""Continue many sequences by one token each in one pass: their keys and values stand in rows of one width.

Rows are padded in front, and have room for the tokens to come, so that no step copies what was computed before.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from transformers.cache_utils import Cache, DynamicLayer

from secateur.models.causal import CausalLM, Prefix

__all__ = ["Rows"]


class _Room(DynamicLayer):
    """Keys and values of one layer, (rows, heads, room, d) each, of which the first `length` positions are filled."""

    def __init__(self, room: int, keys=None, values=None, length: int = 0) -> None:
        super().__init__()
        self.room, self.length = room, length
        if keys is not None:
            self.keys, self.values, self.is_initialized = keys, values, True

    def lazy_initialization(self, key_states, value_states) -> None:
        """Room for the first keys and values, where no prefix came before."""
        self.keys, self.values = (x.new_zeros(*x.shape[:2], self.room, x.shape[3]) for x in (key_states, value_states))
        self.is_initialized = True

    def update(self, key_states, value_states, *args, **kwargs) -> tuple[Any, Any]:
        """Write the new keys and values into the room; returns all that is filled."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start, self.length = self.length, self.length + key_states.shape[-2]
        self.keys[:, :, start : self.length] = key_states
        self.values[:, :, start : self.length] = value_states
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def get_seq_length(self) -> int:
        """Filled positions, padding included."""
        return self.length

    def keep(self, rows) -> None:
        """Keep some rows."""
        if self.is_initialized:
            self.keys, self.values = self.keys[rows], self.values[rows]


class Rows:
    """Sequences that a model continues together; `prefixes` holds their tokens so far, and `room` more may come."""

    def __init__(self, lm: CausalLM, prefixes: Sequence[Prefix], room: int) -> None:
        import torch

        self.lm, self.taken = lm, 0
        self.width = max(prefix.length for prefix in prefixes)
        self.lengths = torch.tensor([prefix.length for prefix in prefixes], device=lm.model.device)
        self.cache = Cache(layer_class_to_replicate=partial(_Room, self.width + room))
        filled = next((prefix.layers for prefix in prefixes if prefix.length), ())
        for n, layer in enumerate(filled):
            buffers = [x.new_zeros(len(prefixes), x.shape[1], self.width + room, x.shape[3]) for x in layer]
            for row, prefix in enumerate(prefixes):
                for whole, part in zip(buffers, prefix.layers[n] if prefix.length else (), strict=False):
                    whole[row, :, self.width - prefix.length : self.width] = part[0]
            self.cache.layers.append(_Room(self.width + room, *buffers, length=self.width))

    def __len__(self) -> int:
        return len(self.lengths)

    def step(self, tokens: Sequence[int]):
        """(rows, vocabulary) logits, fp32, after one more token of each row."""
        import torch

        lm, device = self.lm, self.lm.model.device
        at = self.lengths + self.taken
        keys = torch.arange(self.width + self.taken + 1, device=device) - (self.width - self.lengths)[:, None]
        self.taken += 1
        with torch.inference_mode():
            logits = lm.model(
                input_ids=lm.indices(tokens)[0][:, None],
                position_ids=at[:, None],
                attention_mask=lm.mask((keys >= 0)[:, None], at[:, None], keys),
                **{lm.cache_argument: self.cache},
                use_cache=True,
                logits_to_keep=1,
            ).logits
        return logits[:, -1].float()

    def keep(self, rows: Sequence[int]) -> None:
        """Continue some rows alone from now on, in this order."""
        import torch

        index = torch.tensor(list(rows), dtype=torch.long, device=self.lengths.device)
        self.lengths = self.lengths[index]
        for layer in self.cache.layers:
            layer.keep(index)
