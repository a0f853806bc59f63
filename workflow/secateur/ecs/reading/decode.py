"""Tokens a model would go on with: greedily, or sampled with a seed of one's own."""

from collections.abc import Callable, Sequence
from typing import Any

from secateur.ecs.reading.engine import packs
from secateur.models.causal import NOTHING, CausalLM

__all__ = ["ends", "follow", "greedily", "sampling"]

Choose = Callable[[int, Any], int]  # (place of the context, its logits) -> the next token


def greedily(_: int, logits) -> int:
    """The most probable token."""
    return int(logits.argmax())


def sampling(temperature: float, seeds: Sequence[int]) -> Choose:
    """A token drawn at a temperature; each context has its own generator, so what is drawn depends on nothing else."""
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def choose(n: int, logits) -> int:
        return int(torch.multinomial((logits.cpu() / temperature).softmax(-1), 1, generator=generators[n]))

    return choose


def ends(lm: CausalLM) -> set[int]:
    """The tokens that end a text."""
    found = getattr(lm.model.generation_config, "eos_token_id", None)
    return {*(found if isinstance(found, list) else [found]), lm.tokenizer.eos_token_id} - {None}


def follow(lm: CausalLM, contexts: Sequence[Sequence[int]], steps: int, choose: Choose) -> list[tuple[int, ...]]:
    """Up to `steps` tokens after each context; an end of text is kept and ends it."""
    distinct, final = list(dict.fromkeys(tuple(c) for c in contexts)), ends(lm)
    heads = [c for c in distinct if len(c) > 1]
    filled = [p for part in packs(heads, [len(c) for c in heads], lm.pack) for p in lm.prefill([c[:-1] for c in part])]
    known = dict(zip(heads, filled, strict=True))
    live = {n: (tuple(c)[-1], known.get(tuple(c), NOTHING)) for n, c in enumerate(contexts)}
    found: list[tuple[int, ...]] = [()] * len(contexts)
    for _ in range(steps):
        if not live:
            break
        logits, grown = lm.step([token for token, _ in live.values()], [prefix for _, prefix in live.values()])
        chosen = {n: choose(n, logits[row]) for row, n in enumerate(live)}
        for n, token in chosen.items():
            found[n] += (token,)
        live = {n: (chosen[n], prefix) for n, prefix in zip(live, grown, strict=True) if chosen[n] not in final}
    return found
