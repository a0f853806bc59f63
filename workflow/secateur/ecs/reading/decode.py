"""Continue contexts with a model: greedily, or sampled with one seed per context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.ecs.reading.engine import packs, prefilled
from secateur.models.causal import NOTHING, CausalLM, Prefix

__all__ = ["Continuation", "end_tokens", "generate", "greedily", "sampling"]

Choose = Callable[[int, Any], int]  # (place of the context, its logits) -> the next token


@dataclass(frozen=True)
class Continuation:
    """Tokens, and for each the log-distribution (vocabulary,) fp32 that it was chosen from."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)


def greedily(_: int, logits) -> int:
    """The most probable token."""
    return int(logits.argmax())


def sampling(temperature: float, seeds: Sequence[int]) -> Choose:
    """Sample at a temperature, with one generator per context so that a draw depends on no other context."""
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def choose(n: int, logits) -> int:
        return int(torch.multinomial((logits.cpu() / temperature).softmax(-1), 1, generator=generators[n]))

    return choose


def end_tokens(lm: CausalLM) -> set[int]:
    """Tokens that end a text."""
    configured = getattr(lm.model.generation_config, "eos_token_id", None)
    return {*(configured if isinstance(configured, list) else [configured]), lm.tokenizer.eos_token_id} - {None}


def generate(
    lm: CausalLM,
    contexts: Sequence[Sequence[int]],
    steps: int,
    choose: Choose,
    prefixes: Sequence[Prefix] | None = None,
) -> list[Continuation]:
    """Up to `steps` tokens after each context; a continuation ends with its first end token.

    prefixes: keys and values of each context but its last token, if computed before.
    """
    prefixes, tails = prefixes or prefilled(lm, contexts), dict.fromkeys(range(len(contexts)), NOTHING)
    continuations, ends = [Continuation() for _ in contexts], end_tokens(lm)
    for _ in range(steps):
        live = [n for n, path in enumerate(continuations) if not {*path.tokens} & ends]
        for part in packs(live, [1] * len(live), lm.pack):
            last = [continuations[n].tokens[-1] if continuations[n].tokens else contexts[n][-1] for n in part]
            logits, more = lm.step(last, [prefixes[n] for n in part], [tails[n] for n in part])
            tails |= zip(part, more, strict=True)
            for n, row, logprobs in zip(part, logits, logits.log_softmax(-1), strict=True):
                continuations[n].tokens.append(choose(n, row))
                continuations[n].logprobs.append(logprobs)
    return continuations
