"""The wrong answers that a passage itself offers, and how far it moves the model towards them.

A passage that holds the answer's words in another role makes them likelier, as any text makes its words. One that gives
the answer makes it likelier than its other words.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from secateur.ecs.reading.pairs import Pairs, logprobs
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM
from secateur.models.served import Served
from secateur.models.words import content_words

__all__ = ["rival_share", "rivals"]

OPPOSITE = {"yes": "no", "no": "yes", "Yes": "No", "No": "Yes"}
AROUND = ".,;:?!\"'“”‘’()[]-"  # what a word ends or begins with and is no part of it


def _told(text: str) -> set[str]:
    """Content words and numbers, those of one digit too."""
    return content_words(text) | set(re.findall(r"\d+", text))


def rivals(question: Question, passage: Passage) -> list[str]:
    """What a passage offers as a wrong answer, once each: its words that say something and stand neither in the question
    nor in the answer. Of yes the rival is no, whatever the passage says, and the other way round.

    >>> rivals(Question("1", "When is the market?", "on Monday"), Passage("1", "The market, on Friday before, is on Monday."))
    ['Friday']
    """
    answer = (question.answer or "").strip()
    if answer in OPPOSITE:
        return [OPPOSITE[answer]]
    known = _told(question.text) | _told(answer)
    words = dict.fromkeys(word.strip(AROUND) for word in passage.text.split())
    return [word for word in words if _told(word) and not _told(word) & known]


def rival_share(
    lm: CausalLM | Served, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float | None]:
    """1 - log p(r | C,u) / log p(r | C) of each pair's likeliest rival r, the share of its surprise that the passage
    explains. 0 where a passage offers none, None without an answer."""
    offered = [(n, word) for n, (q, p) in enumerate(pairs) for word in rivals(questions[q], passages[p])]
    posed = [replace(questions[pairs[n][0]], answer=word) for n, word in offered]
    once = list(dict.fromkeys(posed))
    alone = dict(zip(once, logprobs(lm, cfg, once, [()] * len(once), [one.id for one in once]), strict=True))
    shown = [[passages[pairs[n][1]]] for n, _ in offered]
    under = logprobs(lm, cfg, posed, shown, [n for n, _ in offered])
    found: list[float | None] = [None if not (questions[q].answer or "").strip() else 0.0 for q, _ in pairs]
    best: dict[int, float] = {}
    for (n, _), one, value in zip(offered, posed, under, strict=True):
        if alone[one] < 0 and found[n] is not None:
            best[n] = max(best.get(n, -float("inf")), 1 - value / alone[one])
    return [best.get(n, value) for n, value in enumerate(found)]
