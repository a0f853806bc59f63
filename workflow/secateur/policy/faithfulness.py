"""Faithfulness of written answers to the context that was sent (paper 2.8), from 0 to 1."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from secateur.ecs.answer_gain import CLOSED, answer_logprobs
from secateur.ecs.reading.template import Question
from secateur.judging.protocol import Ask, Item, grounded
from secateur.models.causal import CausalLM

__all__ = ["BY_READER", "by_judge", "by_reader"]

BY_READER = "lm"  # the name of this measure: faithfulness:lm


def by_reader(
    lm: CausalLM, cfg, question: Question, answers: Sequence[str], contexts: Sequence[str], cache: Path
) -> list[float]:
    """sigmoid(log p(answer | context, q) - log p(answer | q)), with mean log-probabilities per token of the answer.

    .5: the context does not change how probable the answer is. An empty answer has 0. cfg: an `ecs` option.
    """
    said = [n for n, answer in enumerate(answers) if answer.strip()]
    asked = [replace(question, answer=answers[n]) for n in said]
    requests = [(one, text) for n, one in zip(said, asked, strict=True) for text in (contexts[n], CLOSED)]
    logprobs = answer_logprobs(lm, cfg, requests, cache)
    shares = dict(zip(said, map(_sigmoid, logprobs[::2], logprobs[1::2]), strict=True))
    return [shares.get(n, 0.0) for n in range(len(answers))]


def by_judge(
    ask: Ask, question: Question, answers: Sequence[str], contexts: Sequence[str], refused: Sequence[bool]
) -> list[float | None]:
    """Share of each answer's statements that follow from its context, by a judge; 0 for a refusal, None where unreadable."""
    told = zip(answers, contexts, refused, strict=True)
    return grounded([Item(question.text, answer, "", context, (), no) for answer, context, no in told], ask)


def _sigmoid(under: float, alone: float) -> float:
    return 1 / (1 + math.exp(min(alone - under, 700.0)))  # above 700 exp overflows
