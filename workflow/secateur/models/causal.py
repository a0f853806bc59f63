"""A causal language model that reads many sequences in one pass, without padding and with shared prefixes.

Sequences are packed into one row. A mask lets each token see its own sequence up to itself, and its sequence's prefix;
positions count from the start of the sequence. So a score depends on neither batch nor order, except in its last bits. No
padding is computed, and the keys and values of a prefix are computed once. Where the last bits matter, `chunk` reads rows
of one shape.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature

from numpy.typing import NDArray

from secateur.core.cache import digest
from secateur.core.errors import SecateurError
from secateur.models.admission import ADMITTED, positions, refuse_window
from secateur.models.attention import NeedsMask, attend_in_blocks, attends_by_lengths, blocks, by_lengths
from secateur.models.encoding import Encoder
from secateur.models.kernels import PRODUCTS, STEADY, by_onednn

__all__ = ["NOTHING", "CausalLM", "Prefix"]


@dataclass(frozen=True, eq=False)
class Prefix:
    """Keys and values of the first `length` tokens, by layer; (1, heads, length, d) each."""

    length: int
    layers: tuple  # of (keys, values)


NOTHING = Prefix(0, ())
PASSING = ("_name_or_path", "transformers_version")  # settings of a model that change no score


def _shared(prefixes: Sequence[Prefix]) -> tuple[list[Prefix], int]:
    """The distinct non-empty prefixes in order, and the sum of their tokens."""
    distinct = [p for p in dict.fromkeys(prefixes) if p.length]
    return distinct, sum(p.length for p in distinct)


def _joined(prefixes: Sequence[Prefix]) -> Prefix:
    """Prefixes, concatenated."""
    import torch

    layers = zip(*(p.layers for p in prefixes if p.length), strict=True)
    joined = tuple(tuple(torch.cat(tensors, dim=-2) for tensors in zip(*layer, strict=True)) for layer in layers)
    return Prefix(sum(p.length for p in prefixes), joined)


def _cut(cache, start: int, length: int) -> Prefix:
    """`length` tokens of a cache, from `start`."""
    part = slice(start, start + length)
    return Prefix(length, tuple((layer.keys[:, :, part], layer.values[:, :, part]) for layer in cache.layers))


class CausalLM:
    """A model with its tokenizer. window: most tokens of a sequence; pack: tokens of one forward pass."""

    backend = "transformers"

    def __init__(self, model, tokenizer, window: int, pack: int, name: str, weights: str, exact: bool = False) -> None:
        self.model, self.tokenizer, self.pack, self.name = by_onednn(model.eval()), tokenizer, pack, name
        self._weights, self.encoder, self.exact = weights, Encoder(tokenizer, window), exact
        self._config = model.config.get_text_config()
        refuse_window(name, self._config, window)
        named = signature(model.forward).parameters
        self.cache_argument = "cache" if "cache" in named else "past_key_values"  # renamed in 5.24
        ADMITTED[name] = {
            "architecture": type(model).__name__,
            "dtype": str(model.dtype).removeprefix("torch."),
            "positions": positions(self._config),
            "window": window,
            "prefix": tokenizer.convert_ids_to_tokens(self.encoder.prefix),
            "control_tokens": len(self.encoder.marks.ours),
        }
        attend_in_blocks(model)
        self.by_lengths = attends_by_lengths(model)

    @cached_property
    def identity(self) -> str:
        """Digest of all that a score depends on: weights, architecture, end tokens and the like, tokenizer, chat template, data type,
        window, device.

        Where scores are equal to the bit on a GPU, they are so on one kind of card.
        """
        import torch

        device = self.model.device.type
        card = torch.cuda.get_device_name(self.model.device) if device == "cuda" and self.exact else ""
        tokenizer = (self.tokenizer.backend_tokenizer.to_str(), str(self.tokenizer.chat_template), self.encoder.prefix)
        network = {k: str(v) for k, v in self._config.to_dict().items() if k not in PASSING}
        written = {k: str(v) for k, v in self.model.generation_config.to_dict().items() if k not in PASSING}
        return digest(
            self._weights,
            network,
            written,
            *tokenizer,
            str(self.model.dtype),
            *(device, card, self.exact),
            self.encoder.window,
            STEADY,
            PRODUCTS,
        )

    def indices(self, *lists: Sequence[int]):
        """Lists of integers as tensors on the model's device, in one copy."""
        import torch

        whole = torch.tensor([n for each in lists for n in each], dtype=torch.long)
        if self.model.device.type == "cuda":
            whole = whole.pin_memory().to(self.model.device, non_blocking=True)
        return whole.split([len(each) for each in lists])

    def sent(self, values) -> Callable[[], NDArray]:
        """A function that waits for a tensor's values in host memory; a GPU copies them meanwhile."""
        import torch

        if values.device.type != "cuda":
            return values.numpy
        arrived = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
        arrived.copy_(values, non_blocking=True)
        copied = torch.cuda.Event()
        copied.record()

        def wait() -> NDArray:
            copied.synchronize()
            return arrived.numpy()

        return wait

    def prefill(self, prefixes: Sequence[Sequence[int]]) -> list[Prefix]:
        """Keys and values of several prefixes, in one pass."""
        lengths = [len(ids) for ids in prefixes]
        _, cache = self._forward(prefixes, [NOTHING] * len(prefixes), [0])
        starts = [sum(lengths[:n]) for n in range(len(lengths))]
        return [_cut(cache, start, length) for start, length in zip(starts, lengths, strict=True)]

    def logits(self, sequences: Sequence[Sequence[int]], prefixes: Sequence[Prefix], rows: Sequence[int]):
        """(rows, vocabulary) logits, in the model's type, after the tokens at `rows` of the concatenated sequences.

        prefixes: of each sequence; the same object where it is shared.
        """
        return self._forward(sequences, prefixes, rows)[0]

    def chunk(
        self,
        rows: Sequence[Sequence[int]],
        before: Sequence[Sequence[Prefix]],
        kept: Sequence[int],
        more: Sequence[int],
    ):
        """Read rows of one width after prefixes of one length.

        Returns (rows, kept, vocabulary) logits, in the model's type, after the tokens at `kept`; and keys and values of the
        rows `more`, which continue. Rows are a batch, so a row's sums depend on its width and its prefix alone.
        """
        import torch
        from transformers import DynamicCache

        device = self.model.device
        pasts = [_joined(prefixes) for prefixes in before]
        start, width = pasts[0].length, len(rows[0])
        keys = torch.arange(start + width, device=device)
        by_layer = zip(*(past.layers for past in pasts), strict=True)
        cache = DynamicCache([tuple(map(torch.cat, zip(*layer, strict=True))) for layer in by_layer] or None)
        with torch.inference_mode():
            logits = self.model(
                input_ids=torch.tensor(list(map(list, rows)), device=device),
                position_ids=keys[None, start:].expand(len(rows), -1),
                attention_mask=self.mask(keys <= keys[start:, None], keys[start:], keys),
                **{self.cache_argument: cache},
                use_cache=True,
                logits_to_keep=torch.tensor(list(kept), dtype=torch.long, device=device),
            ).logits
            new = [(layer.keys[:, :, start:], layer.values[:, :, start:]) for layer in cache.layers] if more else []
            continued = [tuple((k[n : n + 1].clone(), v[n : n + 1].clone()) for k, v in new) for n in more]
        return logits, [Prefix(width, layers) for layers in continued]

    def _forward(self, sequences, prefixes, rows):
        """Logits at the rows, and the keys and values of prefixes and sequences."""
        if self.by_lengths:
            try:
                return self._forward_once(sequences, prefixes, rows)
            except NeedsMask:
                self.by_lengths = False
        return self._forward_once(sequences, prefixes, rows)

    def _forward_once(self, sequences, prefixes, rows):
        import torch
        from transformers import DynamicCache

        device = self.model.device
        trunks = _shared(prefixes)[0]
        lengths = [len(s) for s in sequences]
        place = {p: n for n, p in enumerate(trunks)}
        plan = lengths, [place.get(p) for p in prefixes], [p.length for p in trunks]
        (ids,) = self.indices([token for s in sequences for token in s])
        with torch.inference_mode():
            if self.by_lengths:
                layout = by_lengths(*plan, device)
                mask = self._no_mask()
                starts = [p.length for p in prefixes]
                (positions,) = self.indices(
                    [n for s, length in zip(starts, lengths, strict=True) for n in range(s, s + length)]
                )
            else:
                # A GPU is given one large product, not many small ones.
                layout = blocks(*plan) if device.type == "cpu" else None
                mask, positions = self._mask(lengths, prefixes)
            logits = self.model(
                input_ids=ids[None],
                position_ids=positions[None],
                attention_mask=mask,
                **{self.cache_argument: (cache := DynamicCache(list(_joined(trunks).layers) or None))},
                use_cache=True,
                logits_to_keep=self.indices(rows)[0],
                blocks=layout,
            ).logits[0]
        return logits, cache

    def _no_mask(self):
        """A mask that no layer reads, in the form the model asks for; without one, transformers would make its own."""
        import torch

        nothing = torch.empty((1, 1, 1, 1), dtype=self.model.dtype, device=self.model.device)
        kinds = getattr(self._config, "layer_types", None)
        return dict.fromkeys(kinds, nothing) if kinds else nothing

    def _mask(self, lengths: Sequence[int], prefixes: Sequence[Prefix]):
        """What each token may see, in the form the model's layers ask for, and each token's position.

        The mask is additive, (1, 1, tokens, prefix tokens + tokens).
        """
        import torch

        device = self.model.device
        shared, _ = _shared(prefixes)
        place = {p: n for n, p in enumerate(shared)} | {NOTHING: -2}

        def spread(values, counts):
            return torch.repeat_interleave(torch.tensor(values, device=device), torch.tensor(counts, device=device))

        hung = spread([place[p] for p in prefixes], lengths)  # the prefix a token's sequence hangs on
        owner = spread(list(range(len(lengths))), lengths)
        at = torch.cat([torch.arange(n, device=device) for n in lengths]) + spread(
            [p.length for p in prefixes], lengths
        )
        seen = (owner[:, None] == owner) & (at[:, None] >= at)
        keys = at
        if shared:
            trunk = spread(list(range(len(shared))), [p.length for p in shared])
            seen = torch.cat([hung[:, None] == trunk, seen], dim=1)
            keys = torch.cat([*(torch.arange(p.length, device=device) for p in shared), keys])
        return self.mask(seen, at, keys), at

    def mask(self, seen, at, keys):
        """The additive mask as the model takes it: one for all layers, or one for each type of layer.

        seen: (tokens, keys), or (rows, tokens, keys) of a batch; at: (..., tokens) and keys: (..., keys) positions.
        """
        import torch

        def additive(visible):
            whole = torch.zeros(visible.shape, dtype=self.model.dtype, device=seen.device)
            whole = whole.masked_fill_(~visible, torch.finfo(self.model.dtype).min)
            return whole[None, None] if whole.dim() == 2 else whole[:, None]

        width, kinds = getattr(self._config, "sliding_window", None), getattr(self._config, "layer_types", None)
        near = seen & (keys[..., None, :] > (at - width)[..., None]) if width else seen
        if not kinds:
            return additive(near)
        masks = {"full_attention": seen, "sliding_attention": near}
        if set(kinds) - set(masks):
            raise SecateurError(
                f"lm {self.name}: layers of type {', '.join(sorted(set(kinds) - set(masks)))} cannot be scored here. "
                "Fix: use a model whose layers attend fully or within a sliding window."
            )
        return {kind: additive(masks[kind]) for kind in sorted(set(kinds))}
