"""Greedy answers to prompts by a model in this process, one prompt at a time.

An answer so depends on its prompt alone. In a batch, padding and batch size would change sums, and with them near ties.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from secateur.answers.ending import finished, is_over
from secateur.core.cache import RequestCache, digest
from secateur.ecs.reading.decode import end_tokens
from secateur.models.causal import CausalLM

__all__ = ["Completion", "Generator", "InProcess", "Seconds"]


@dataclass(frozen=True)
class Completion:
    """An answer. stopped: end (the model's end token, which counts), stop, length or repeats."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    stopped: str


@dataclass
class Seconds:
    """Time spent on answers that were not cached, in seconds."""

    prompts: int = 0
    prefill: float = 0.0
    steps: int = 0
    decode: float = 0.0


class Generator(Protocol):
    """Prompts to answers. window: the most tokens of a prompt."""

    window: int
    seconds: Seconds

    def size(self, prompt: str) -> int:
        """Tokens of a prompt."""

    def __call__(self, prompts: Sequence[str]) -> list[Completion]:
        """The answer to each prompt."""


@dataclass
class _Row:
    """An unfinished answer."""

    text: str = ""
    tokens: int = 0
    stopped: str | None = None


def _watch(lm: CausalLM, cfg, width: int, row: _Row, clock: list[float]):
    """A stopping criterion that also notes the time of each step. width: tokens of the prompt."""
    import torch
    from transformers import StoppingCriteria

    final = end_tokens(lm)

    class Watch(StoppingCriteria):
        def __call__(self, input_ids, scores, **_):
            clock.append(time.perf_counter())
            ids = input_ids[0, width:].tolist()
            row.tokens = len(ids)
            row.text = lm.tokenizer.decode(ids, skip_special_tokens=True)
            row.stopped = "end" if ids[-1] in final else "cut" if is_over(row.text, cfg) else None
            return torch.tensor([row.stopped is not None], device=input_ids.device)

    return Watch()


@dataclass
class InProcess:
    """Answers by a model in this process. cfg: an `answer` option."""

    lm: CausalLM
    cfg: object
    cache: Path
    seconds: Seconds = field(default_factory=Seconds)

    @property
    def window(self) -> int:
        most = self.lm.encoder.window - self.cfg.max_tokens
        return min(most, self.cfg.window or most)

    def size(self, prompt: str) -> int:
        return len(self._ids(prompt))

    def __call__(self, prompts: Sequence[str]) -> list[Completion]:
        known, cfg = RequestCache(self.cache / "answers"), self.cfg
        rules = (
            cfg.max_tokens,
            cfg.stop,
            cfg.repeats,
            cfg.least_repeated,
            "alone",
        )  # "alone": earlier versions answered in batches
        keys = {prompt: digest(self.lm.identity, prompt, rules) for prompt in prompts}
        found = {prompt: Completion(**reply) for prompt, key in keys.items() if (reply := known.get(key))}
        for prompt in [prompt for prompt in keys if prompt not in found]:
            found[prompt] = self._answer(self._ids(prompt))
            known.put(keys[prompt], asdict(found[prompt]))
        return [found[prompt] for prompt in prompts]

    def _ids(self, prompt: str) -> tuple[int, ...]:
        """The tokens of a prompt, through the chat template where the tokenizer has one."""
        text = f"{prompt}\nAnswer:"
        if self.lm.tokenizer.chat_template:
            turns = [{"role": "user", "content": prompt}]
            text = self.lm.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return self.lm.encoder.encode([text], [""], [None], ["a prompt"])[0].ids

    def _answer(self, prompt: Sequence[int]) -> Completion:
        """The answer to a prompt's tokens."""
        import torch
        from transformers import StoppingCriteriaList

        row, clock, given = _Row(), [time.perf_counter()], torch.tensor([prompt], device=self.lm.model.device)
        with torch.inference_mode():
            self.lm.model.generate(
                given,
                attention_mask=torch.ones_like(given),
                stopping_criteria=StoppingCriteriaList([_watch(self.lm, self.cfg, len(prompt), row, clock)]),
                generation_config=_greedily(self.cfg.max_tokens, sorted(end_tokens(self.lm))),
            )
        self.seconds.prompts += 1
        self.seconds.prefill += clock[1] - clock[0]
        self.seconds.steps += len(clock) - 2
        self.seconds.decode += clock[-1] - clock[1]
        text, why = finished(row.text, self.cfg)
        return Completion(text, len(prompt), row.tokens, why or ("end" if row.stopped == "end" else "length"))


def _greedily(most: int, final: list[int]):
    """Greedy decoding, whatever sampling the model's own configuration asks for."""
    from transformers import GenerationConfig

    plain = {"do_sample": False, "num_beams": 1, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0}
    return GenerationConfig(max_new_tokens=most, eos_token_id=final, pad_token_id=final[0], **plain)
