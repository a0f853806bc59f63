"""Rivals: wrong answers from the words of a passage, and how far the passage shifts the model towards them.

Any text makes its own words likelier. A passage that mentions the answer in another role raises the answer no more than its
other words; a passage that gives the answer raises it more.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import regex

from secateur.ecs.reading.pairs import Pairs, total_logprobs
from secateur.ecs.reading.template import Passage, Question
from secateur.models.causal import CausalLM
from secateur.models.served import Served
from secateur.models.units import content_words
from secateur.models.words import PLAIN_PUNCTUATION, UNSPACED, words

__all__ = ["count_rivals", "rival_share", "rivals"]

OPPOSITE = {"yes": "no", "no": "yes", "Yes": "No", "No": "Yes"}
PUNCTUATION = rf"[.,;:?!\"'()\[\]\-{PLAIN_PUNCTUATION}]+"  # stripped from both ends of a word
ENDS, WITHOUT_BLANKS = regex.compile(rf"(?V1)^{PUNCTUATION}|{PUNCTUATION}$"), regex.compile(f"(?V1){UNSPACED}")


def _terms(text: str) -> set[str]:
    """Content words and numbers, including single digits."""
    return content_words(text) | set(re.findall(r"\d+", text))


def rivals(question: Question, passage: Passage) -> list[str]:
    """Unique words of a passage that could be a wrong answer: content words in neither the question nor the answer.

    Where no blanks stand between words, they are each two neighbouring characters.

    The rival of yes is no, whatever the passage says, and vice versa.

    >>> rivals(Question("1", "When is the market?", "on Monday"), Passage("1", "The market, on Friday before, is on Monday."))
    ['Friday']
    """
    answer = (question.answer or "").strip()
    if answer in OPPOSITE:
        return [OPPOSITE[answer]]
    excluded = _terms(question.text) | _terms(answer)
    pieces = passage.text.split()
    shown = (words(part) if WITHOUT_BLANKS.search(part) else (ENDS.sub("", part),) for part in pieces)
    unique = dict.fromkeys(word for of_part in shown for word in of_part)
    return [word for word in unique if _terms(word) and not _terms(word) & excluded]


def count_rivals(pairs: Iterable[tuple[str, str | None, str]]) -> int:
    """The rivals of all pairs: what `rival_share` reads besides. pairs: texts of question, answer, passage."""
    return sum(len(rivals(Question("", text, answer), Passage("", passage))) for text, answer, passage in pairs)


def rival_share(
    lm: CausalLM | Served, cfg, questions: Sequence[Question], passages: Sequence[Passage], pairs: Pairs
) -> list[float | None]:
    """Share of a rival's surprise that the passage explains, 1 - log p(r | C,u) / log p(r | C), of the likeliest rival r.

    0 if the passage has no rival, None if the question has no answer.
    """
    candidates = [(n, word) for n, (q, p) in enumerate(pairs) for word in rivals(questions[q], passages[p])]
    with_rival = [replace(questions[pairs[n][0]], answer=word) for n, word in candidates]
    unique = list(dict.fromkeys(with_rival))
    base = total_logprobs(lm, cfg, unique, [()] * len(unique), [question.id for question in unique])
    base_logprobs = dict(zip(unique, base, strict=True))
    shown = [[passages[pairs[n][1]]] for n, _ in candidates]
    logprobs = total_logprobs(lm, cfg, with_rival, shown, [n for n, _ in candidates])
    shares: list[float | None] = [0.0 if (questions[q].answer or "").strip() else None for q, _ in pairs]
    highest: dict[int, float] = {}
    for (n, _), question, logprob in zip(candidates, with_rival, logprobs, strict=True):
        if base_logprobs[question] < 0 and shares[n] is not None:
            highest[n] = max(highest.get(n, -float("inf")), 1 - logprob / base_logprobs[question])
    return [highest.get(n, share) for n, share in enumerate(shares)]
