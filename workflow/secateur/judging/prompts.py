"""Prompts of a judge, in our words, and parsers of its replies. An unreadable reply is None, never a verdict."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

__all__ = ["rating", "relevance", "split", "statements", "supported", "supporting"]

LEVELS = (0, 1, 2)  # grades of relevance

SPLIT = """Break the text into short statements. Each says one thing, is a whole sentence, and can be understood without the others: \
put names in the place of pronouns. Add nothing that the text does not say.
Reply with a JSON list of strings and with nothing else.

Question that the text answers: {question}
Text: {text}"""

SUPPORTED = """Here are a text and numbered statements. Which of the statements follow from the text alone? What you know besides does not \
count.
Reply with a JSON list of their numbers and with nothing else; [] if none follows.

Text:
{text}

Statements:
{statements}"""

RELEVANCE = (
    """How much of what is needed to answer the question stands in the text? 0: nothing of it, 1: a part, 2: all of it.
Reply with that number and with nothing else.

Question: {question}

Text:
{text}""",
    """Text:
{text}

Question: {question}

Could somebody who has read this text, and nothing else, answer the question? Reply 2 for fully, 1 for partly, 0 for not at all, \
and with nothing else.""",
)


def split(question: str, text: str) -> str:
    """Prompt for the statements of a text."""
    return SPLIT.format(question=question, text=text)


def supporting(text: str, claims: Sequence[str]) -> str:
    """Prompt for the statements that follow from a text."""
    return SUPPORTED.format(text=text, statements="\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, 1)))


def relevance(question: str, text: str) -> list[str]:
    """Two prompts for the relevance of a text, in different words and order."""
    return [template.format(question=question, text=text) for template in RELEVANCE]


def statements(reply: str) -> list[str] | None:
    """The statements of a reply.

    >>> statements('Here they are: ["A is b.", " "]'), statements("A is b."), statements('["a", 3]')
    (['A is b.'], None, None)
    """
    values = _single(entries for entries in _values(reply) if all(isinstance(part, str) for part in entries))
    return None if values is None else [part.strip() for part in values if part.strip()]


def supported(reply: str, count: int) -> list[bool] | None:
    """Whether each of `count` statements is named in a reply.

    >>> supported("[1, 3]", 3), supported("Numbers: []", 2), supported("[4]", 3), supported("all but [2]: [1, 3]", 3)
    ([True, False, True], [False, False], None, None)
    """
    numbers = _single(
        entries
        for entries in _values(reply)
        if all(isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= count for n in entries)
    )
    return None if numbers is None else [n in numbers for n in range(1, count + 1)]


def rating(reply: str) -> float | None:
    """A relevance from 0 to 1.

    >>> rating("2"), rating(" 1."), rating("It is 2 of 2"), rating("3")
    (1.0, 0.5, None, None)
    """
    text = reply.strip().rstrip(".").strip()
    return int(text) / max(LEVELS) if text in {str(level) for level in LEVELS} else None


def _single(lists: Iterable[list]) -> list | None:
    """The only list, however often it is said; None without one, and where lists differ: which is meant cannot be read."""
    first, *others = [*lists] or [None]
    return first if all(other == first for other in others) else None


def _values(reply: str) -> Iterator[list[Any]]:
    """Every JSON list in a reply, whatever surrounds it."""
    decoder = json.JSONDecoder()
    at = reply.find("[")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
            yield value
        except (ValueError, RecursionError):
            end = at + 1
        at = reply.find("[", end)
