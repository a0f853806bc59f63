"""Types and parsers of peers' adapters; the standard library alone.

An adapter is imported twice: here, and in the peer's environment, where none of our packages is installed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Document", "Extraction", "Fact", "Prompt", "between", "column_of", "entity_passages", "fenced", "objects"]


@dataclass(frozen=True)
class Document:
    """A text to index."""

    title: str
    text: str

    @property
    def titled(self) -> str:
        """Title and text, a line apart."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True)
class Fact:
    """A triple of the graph that all peers search, with the text of the passage that states it."""

    head: str
    relation: str
    tail: str
    passage: str


@dataclass(frozen=True)
class Prompt:
    """A peer's prompt to a language model: (role, text) of each message."""

    messages: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(text for _, text in self.messages)

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.messages[-1][1] if self.messages else ""

    @property
    def system(self) -> str:
        """The text of the system and developer messages."""
        return "\n".join(text for role, text in self.messages if role in ("system", "developer"))


class Extraction(Protocol):
    """The extraction that answers every peer in controlled mode."""

    def facts(self, text: str) -> list[Fact]:
        """The triples of the passages that a text contains, in its order."""

    def phrases(self, question: str) -> list[str]:
        """The phrases that a question mentions."""


def entity_passages(facts: Iterable[Fact]) -> dict[str, str]:
    """Each entity of some facts, with the first passage that names it."""
    passages: dict[str, str] = {}
    for fact in facts:
        for entity in (fact.head, fact.tail):
            passages.setdefault(entity, fact.passage)
    return passages


def between(text: str, start: str, *ends: str) -> str:
    """Text after the last `start`, up to the first of `ends` that follows; empty without `start`.

    >>> between("Text: a\\nOutput: b", "Text:", "Output:")
    'a'
    """
    _, separator, after = text.rpartition(start)
    if not separator:
        return ""
    cuts = [offset for end in ends if (offset := after.find(end)) >= 0]
    return after[: min(cuts, default=len(after))].strip()


def fenced(text: str, head: str) -> str:
    """Content of the first block of three backticks after a heading; empty without one."""
    _, separator, after = text.partition(head)
    block = re.search(r"```\w*\n(.*?)\n```", after, re.DOTALL) if separator else None
    return block[1] if block else ""


def objects(lines: str) -> list[Mapping[str, Any]]:
    """The JSON objects of a text with one a line."""
    return [json.loads(line) for line in lines.split("\n") if line.strip().startswith("{")]


def column_of(table: Sequence[Sequence[str]], name: str) -> list[str]:
    """A column of a table whose first row holds the names; empty without a column of that name."""
    if not table or name not in table[0]:
        return []
    index = list(table[0]).index(name)
    return [row[index] for row in table[1:] if len(row) > index]
