"""Tokens a model would go on with: greedily, or sampled with a seed of one's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.ecs.reading.engine import packs, prefilled
from secateur.models.causal import NOTHING, CausalLM, Prefix

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


def follow(
    lm: CausalLM,
    contexts: Sequence[Sequence[int]],
    steps: int,
    choose: Choose,
    held: Sequence[Prefix] | None = None,
) -> list[Path]:
    """Up to `steps` tokens after each context; an end of text is kept and ends it.

    held: keys and values of each context but its last token, where they are known.
    """
    prefixes, tails = held or prefilled(lm, contexts), dict.fromkeys(range(len(contexts)), NOTHING)
    found, final = [Path() for _ in contexts], ends(lm)
    for _ in range(steps):
        live = [n for n, path in enumerate(found) if not {*path.tokens} & final]
        for part in packs(live, [1] * len(live), lm.pack):
            last = [found[n].tokens[-1] if found[n].tokens else contexts[n][-1] for n in part]
            logits, more = lm.step(last, [prefixes[n] for n in part], [tails[n] for n in part])
            tails |= zip(part, more, strict=True)
            for n, own, said in zip(part, logits, logits.log_softmax(-1), strict=True):
                found[n].tokens.append(choose(n, own))
                found[n].said.append(said)
    return found
