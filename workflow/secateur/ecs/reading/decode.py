"""Continue contexts with a model: greedily, or sampled with one seed per context."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.ecs.reading.engine import prefilled
from secateur.models.causal import CausalLM, Prefix

__all__ = ["Continuation", "end_tokens", "generate", "greedily", "sampling"]

# (places of the contexts, their logits (contexts, vocabulary)) -> the next token of each
Choose = Callable[[Sequence[int], Any], list[int]]
ROWS = 64  # contexts that are continued together


@dataclass(frozen=True)
class Continuation:
    """Tokens, and for each the log-distribution (vocabulary,) fp32 that it was chosen from."""

    tokens: list[int] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)


def greedily(_: Sequence[int], logits) -> list[int]:
    """The most probable tokens."""
    return logits.argmax(-1).tolist()


def sampling(temperature: float, seeds: Sequence[int]) -> Choose:
    """Sample at a temperature, with one generator per context so that a draw depends on no other context."""
    import torch

    generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def choose(places: Sequence[int], logits) -> list[int]:
        probabilities = (logits / temperature).softmax(-1).cpu()
        draws = zip(places, probabilities, strict=True)
        return [int(torch.multinomial(each, 1, generator=generators[n])) for n, each in draws]

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
    prefixes = prefixes or prefilled(lm, contexts)
    continuations = [Continuation() for _ in contexts]
    for start in range(0, len(contexts), ROWS):
        part = range(start, min(start + ROWS, len(contexts)))
        _continue(lm, contexts, prefixes, part, steps, choose, continuations)
    return continuations


def _continue(lm, contexts, prefixes, part: Sequence[int], steps: int, choose: Choose, continuations) -> None:
    """Add the tokens of some contexts to their continuations."""
    from secateur.models.decoding import Rows  # it imports transformers

    rows = Rows(lm, [prefixes[n] for n in part], steps)
    ends = end_tokens(lm)
    live = list(enumerate(part))
    last = [contexts[n][-1] for n in part]
    for _ in range(steps):
        logits = rows.step(last)[[row for row, _ in live]]
        tokens = choose([n for _, n in live], logits)
        for (row, n), token, logprobs in zip(live, tokens, logits.log_softmax(-1), strict=True):
            continuations[n].tokens.append(token)
            continuations[n].logprobs.append(logprobs)
            last[row] = token
        live = [each for each, token in zip(live, tokens, strict=True) if token not in ends]
        if not live:
            break
        if len(live) <= len(rows) // 2:  # earlier, copying what is kept costs more than rows that have ended
            rows.keep([row for row, _ in live])
            last = [last[row] for row, _ in live]
            live = [(row, n) for row, (_, n) in enumerate(live)]
