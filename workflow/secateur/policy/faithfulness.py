"""Faithfulness of written answers to the context that was sent (paper 2.8), from 0 to 1."""

import math
from collections.abc import Sequence
from dataclasses import replace

from secateur.ecs.answer_gain import CLOSED
from secateur.ecs.reading.template import Question
from secateur.judging.protocol import Ask, Item, grounded

__all__ = ["BY_READER", "by_judge", "by_reader", "requests"]

BY_READER = "lm"  # the name of this measure: faithfulness:lm


def requests(question: Question, answers: Sequence[str], contexts: Sequence[str]) -> list[tuple[Question, str]]:
    """What `by_reader` needs of `answer_logprobs`: each answer that is not empty under its context, and under none."""
    asked = [(replace(question, answer=answer), text) for answer, text in zip(answers, contexts, strict=True)]
    return [(answered, shown) for answered, text in asked if answered.answer.strip() for shown in (text, CLOSED)]


def by_reader(answers: Sequence[str], logprobs: Sequence[float]) -> list[float]:
    """sigmoid(log p(answer | context, q) - log p(answer | q)), with mean log-probabilities per token of the answer.

    .5: the context does not change how probable the answer is. An empty answer has 0. logprobs: of `requests`.
    """
    shares = map(_sigmoid, logprobs[::2], logprobs[1::2])
    return [next(shares) if answer.strip() else 0.0 for answer in answers]


def by_judge(
    ask: Ask, question: Question, answers: Sequence[str], contexts: Sequence[str], refused: Sequence[bool]
) -> list[float | None]:
    """Share of each answer's statements that follow from its context, by a judge; 0 for a refusal, None where unreadable."""
    rows = zip(answers, contexts, refused, strict=True)
    return grounded([Item(question.text, answer, "", context, (), no) for answer, context, no in rows], ask)


def _sigmoid(under: float, alone: float) -> float:
    return 1 / (1 + math.exp(min(alone - under, 700.0)))  # above 700 exp overflows
