"""Greedy answers to prompts by a model in this process, one prompt at a time.

An answer so depends on its prompt alone. In a batch, padding and batch size would change sums, and with them near ties.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from secateur.answers.ending import finished, is_over
from secateur.config.code import plugin_digest
from secateur.core.cache import RequestCache, digest
from secateur.core.errors import SecateurError
from secateur.ecs.reading.decode import end_tokens
from secateur.models.causal import CausalLM
from secateur.models.chat import THOUGHT
from secateur.models.thoughts import begun_in, marked, spoken

__all__ = ["Completion", "Generator", "InProcess", "Seconds"]


@dataclass(frozen=True)
class Completion:
    """An answer without thoughts. problem: why its prompt was refused.

    stopped: end (the model's end token, which counts), stop, length, repeats, filtered, thought (no answer follows), or
    failed (the endpoint refused the prompt, or a filter left no text).
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    stopped: str
    problem: str = ""


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
    """An unfinished answer. text: None within a thought."""

    text: str | None = ""
    tokens: int = 0
    stopped: str | None = None


def _watch(lm: CausalLM, cfg, width: int, row: _Row, clock: list[float], text_of: Callable[[list[int]], str | None]):
    """A stopping criterion that also notes the time of each step. width: tokens of the prompt; text_of: text of tokens."""
    import torch
    from transformers import StoppingCriteria

    final = end_tokens(lm)

    class Watch(StoppingCriteria):
        def __call__(self, input_ids, scores, **_):
            clock.append(time.perf_counter())
            ids = input_ids[0, width:].tolist()
            row.tokens = len(ids)
            row.text = text_of(ids)
            over = row.text is not None and is_over(row.text, cfg)
            row.stopped = "end" if ids[-1] in final else "cut" if over else None
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
        store = RequestCache(self.cache / "answers")
        keys = {prompt: digest(plugin_digest(__name__), self.lm.identity, prompt, self._rules) for prompt in prompts}
        cached = {prompt: store.get(key) for prompt, key in keys.items()}
        answers = {prompt: Completion(**reply) for prompt, reply in cached.items() if reply}
        for prompt in [prompt for prompt in keys if prompt not in answers]:
            answers[prompt] = self._answer(prompt)
            store.put(keys[prompt], asdict(answers[prompt]))
        return [answers[prompt] for prompt in prompts]

    @cached_property
    def _thinks(self) -> bool:
        """Whether the chat template or the vocabulary has marks of thoughts."""
        tokenizer = self.lm.tokenizer
        return marked(" ".join([str(tokenizer.chat_template), *tokenizer.get_added_vocab()]))

    @cached_property
    def _rules(self) -> tuple:
        """What an answer depends on besides model and prompt."""
        cfg = self.cfg
        rules = (cfg.max_tokens, cfg.stop, cfg.repeats, cfg.least_repeated, sorted(end_tokens(self.lm)))
        return (*rules, "spoken", self._template) if self._thinks or self._template else rules

    @cached_property
    def _template(self) -> dict[str, Any]:
        """Arguments of the chat template. Raises SecateurError for one that it does not read."""
        arguments = getattr(self.cfg, "template", None) or {}
        template = str(self.lm.tokenizer.chat_template or "")
        if unread := [name for name in arguments if name not in template]:
            raise SecateurError(
                f"lm {self.lm.name}: its chat template reads no {', '.join(unread)}. "
                "Fix: `template` with names that it reads, or {}."
            )
        return dict(arguments)

    def _text(self, prompt: str) -> str:
        """A prompt through the chat template, where the tokenizer has one."""
        if not self.lm.tokenizer.chat_template:
            return f"{prompt}\nAnswer:"
        return self.lm.encoder.marks.rendered(self.lm.tokenizer, prompt, **self._template)

    def _ids(self, prompt: str) -> tuple[int, ...]:
        """The tokens of a prompt."""
        return self.lm.encoder.encode([self._text(prompt)], [""], [None], ["a prompt"])[0].ids

    def _said(self, ids: list[int], begun: str) -> str | None:
        """The text of tokens outside thoughts, None within one. begun: the mark of a thought that the prompt opened.

        Marks may be special tokens, so these are left out after the thoughts.
        """
        tokenizer = self.lm.tokenizer
        whole = begun + tokenizer.decode(ids) if self._thinks else ""
        if not marked(whole):
            return spoken(tokenizer.decode(ids, skip_special_tokens=True))
        text = spoken(whole)
        for token in tokenizer.all_special_tokens if text else ():
            text = text.replace(token, "")
        return text

    def _answer(self, prompt: str) -> Completion:
        import torch
        from transformers import StoppingCriteriaList

        ids = self._ids(prompt)
        begun = begun_in(self._text(prompt))
        row, clock = _Row(), [time.perf_counter()]
        prompt_ids = torch.tensor([ids], device=self.lm.model.device)
        watch = _watch(self.lm, self.cfg, len(ids), row, clock, lambda written: self._said(written, begun))
        with torch.inference_mode():
            self.lm.model.generate(
                prompt_ids,
                attention_mask=torch.ones_like(prompt_ids),
                stopping_criteria=StoppingCriteriaList([watch]),
                generation_config=_greedily(self.cfg.max_tokens, sorted(end_tokens(self.lm))),
            )
        self.seconds.prompts += 1
        self.seconds.prefill += clock[1] - clock[0]
        self.seconds.steps += len(clock) - 2
        self.seconds.decode += clock[-1] - clock[1]
        if row.text is None:
            return Completion("", len(ids), row.tokens, THOUGHT)
        text, why = finished(row.text, self.cfg)
        return Completion(text, len(ids), row.tokens, why or ("end" if row.stopped == "end" else "length"))


def _greedily(most: int, final: list[int]):
    """Greedy decoding, whatever sampling the model's own configuration asks for."""
    from transformers import GenerationConfig

    plain = {"do_sample": False, "num_beams": 1, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0}
    return GenerationConfig(max_new_tokens=most, eos_token_id=final, pad_token_id=final[0], **plain)
