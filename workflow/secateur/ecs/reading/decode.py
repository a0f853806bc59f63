"""Tokens a model would go on with: greedily, or sampled with a seed of one's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.ecs.reading.engine import packs
from secateur.models.causal import NOTHING, CausalLM

__all__ = ["Path", "ends", "follow", "greedily", "sampling"]

Choose = Callable[[int, Any], int]  # (place of the context, its logits) -> the next token


@dataclass(frozen=True)
class Path:
    """Tokens, and the log-distribution that each was chosen from: (vocabulary,) fp32."""

    tokens: list[int] = field(default_factory=list)
    said: list[Any] = field(default_factory=list)


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


def follow(lm: CausalLM, contexts: Sequence[Sequence[int]], steps: int, choose: Choose) -> list[Path]:
    """Up to `steps` tokens after each context; an end of text is kept and ends it.

    A path is read anew at each step, for it is short: what was read once and is shared is its context.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for n, context in enumerate(contexts):
        places.setdefault(tuple(context), []).append(n)
    heads = [context for context in places if len(context) > 1]
    filled = [p for part in packs(heads, [len(c) for c in heads], lm.pack) for p in lm.prefill([c[:-1] for c in part])]
    known, found, final = dict(zip(heads, filled, strict=True)), [Path() for _ in contexts], ends(lm)
    for step in range(steps):
        live = {c: own for c, all_ in places.items() if (own := [n for n in all_ if not {*found[n].tokens} & final])}
        for part in packs(list(live), [(step + 1) * len(own) for own in live.values()], lm.pack):
            work = [(n, context) for context in part for n in live[context]]
            rows = range(step, len(work) * (step + 1), step + 1)
            told = [[context[-1], *found[n].tokens] for n, context in work]
            logits = lm.logits(told, [known.get(context, NOTHING) for _, context in work], rows)
            for (n, _), own, said in zip(work, logits, logits.log_softmax(-1), strict=True):
                found[n].tokens.append(choose(n, own))
                found[n].said.append(said)
    return found
