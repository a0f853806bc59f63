"""Asks a judge: a model in this process, or an endpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

from secateur.answers.ending import FAILED
from secateur.answers.endpoint import Remote
from secateur.answers.generate import Completion, Generator, InProcess
from secateur.config.models import Lm
from secateur.core.fields import from_dict
from secateur.models.reader import load
from secateur.models.word_pieces import lm_counter

__all__ = ["Asking", "judge_of"]


class Asking:
    """Asks a judge and keeps its replies by prompt; None for a prompt that exceeds its window or is refused."""

    def __init__(self, generator: Generator) -> None:
        self._generator, self.replies = generator, {}
        self.completions: list[Completion] = []

    def __call__(self, prompts: Sequence[str]) -> list[str | None]:
        new = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self.replies]
        fitting = [prompt for prompt in new if self._generator.size(prompt) <= self._generator.window]
        completions = self._generator(fitting)
        self.completions += completions
        read = zip(fitting, completions, strict=True)
        self.replies |= dict.fromkeys(new) | {p: reply.text for p, reply in read if reply.stopped != FAILED}
        return [self.replies[prompt] for prompt in prompts]


def judge_of(judge, model: Mapping[str, Any] | None, reader: str, ctx) -> Generator:
    """The judge. model: its option of conf/lm in process; reader: the model whose tokenizer counts for an endpoint."""
    if judge.backend == "lm":
        return InProcess(load(from_dict(Lm, model, f"conf/lm/{judge.lm}"), ctx.cache, ctx.device), judge, ctx.cache)
    count = lm_counter(reader, ctx.cache)
    return Remote(judge, count, judge.window + judge.max_tokens, ctx.cache, ctx.log, "judge")
