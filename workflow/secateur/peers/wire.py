"""What a peer's adapter is told, and what it says: plain data, and no library but Python's own.

An adapter is read twice, by the pipeline and in the peer's own environment, where nothing of ours is installed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Document", "Extraction", "Fact", "Prompt", "between", "described", "fenced", "objects", "rows"]


@dataclass(frozen=True)
class Document:
    """A text to index."""

    title: str
    text: str


@dataclass(frozen=True)
class Fact:
    """A triple of the graph that all peers search. said: the passage that it was read from."""

    head: str
    relation: str
    tail: str
    said: str


@dataclass(frozen=True)
class Prompt:
    """What a peer asks a language model: (role, text) of each message; whether it wants JSON of a schema of its own."""

    messages: tuple[tuple[str, str], ...]
    structured: bool = False

    @property
    def text(self) -> str:
        """All messages."""
        return "\n".join(text for _, text in self.messages)

    @property
    def last(self) -> str:
        """The message that is to be answered."""
        return self.messages[-1][1] if self.messages else ""

    @property
    def system(self) -> str:
        """The instructions."""
        return "\n".join(text for role, text in self.messages if role in ("system", "developer"))


class Extraction(Protocol):
    """The extraction that answers every peer alike."""

    def facts(self, text: str) -> list[Fact]:
        """The triples of the passages that a text holds, in its order."""

    def phrases(self, question: str) -> list[str]:
        """What a question speaks of."""


def described(facts: Iterable[Fact]) -> dict[str, str]:
    """Each entity of some facts, with the passage that names it first."""
    found: dict[str, str] = {}
    for fact in facts:
        for entity in (fact.head, fact.tail):
            found.setdefault(entity, fact.said)
    return found


def between(text: str, start: str, *ends: str) -> str:
    """What stands behind the last `start`, up to the first of `ends` that follows; nothing where `start` is not there.

    >>> between("Text: a\\nOutput: b", "Text:", "Output:")
    'a'
    """
    _, found, rest = text.rpartition(start)
    if not found:
        return ""
    cuts = [at for end in ends if (at := rest.find(end)) >= 0]
    return rest[: min(cuts, default=len(rest))].strip()


def fenced(text: str, head: str) -> str:
    """What the block of three backticks holds that follows a heading; nothing where there is none."""
    _, found, rest = text.partition(head)
    block = re.search(r"```\w*\n(.*?)\n```", rest, re.DOTALL) if found else None
    return block[1] if block else ""


def objects(lines: str) -> list[Mapping[str, Any]]:
    """The JSON objects of a block that has one a line."""
    return [json.loads(line) for line in lines.splitlines() if line.strip().startswith("{")]


def rows(table: Sequence[Sequence[str]], column: str) -> list[str]:
    """A column of a table with its names in the first row; nothing where it has none of that name."""
    if not table or column not in table[0]:
        return []
    at = list(table[0]).index(column)
    return [row[at] for row in table[1:] if len(row) > at]
