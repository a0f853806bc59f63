"""Trace a text to the passages that it contains verbatim, whatever stands between them."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from secateur.models.words import unit_spans, units

__all__ = ["Span", "Tracer"]

ANCHOR = 3  # first words of a passage, the key of its look-up
ENDS = "\n.!?:;\u3002\uff01\uff1f\u0964\u061f"  # characters that end a line, a sentence or a part of one


@dataclass(frozen=True)
class Span:
    """A part of a text. passage: the row of its passage; None for text between passages."""

    text: str
    passage: int | None


class Tracer:
    """The passages of a corpus, looked up by their first words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [[unit for unit, _, _ in unit_spans(text)] for text in texts]
        self._starts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for row, words in enumerate(self._words):
            if words:
                self._starts[tuple(words[:ANCHOR])].append(row)
        for rows in self._starts.values():
            rows.sort(key=lambda row: (-len(self._words[row]), row))

    def passages(self, text: str) -> list[int]:
        """Rows of the passages that a text contains, in its order."""
        return [row for _, _, row in self._matches(text)]

    def spans(self, text: str) -> list[Span]:
        """The text in parts, each a passage or the text between two; parts without words are dropped."""
        parts, end = [], 0
        for start, stop, row in self._matches(text):
            while stop < len(text) and _closes(text[stop]):  # the full stop
                stop += 1
            start = next((at for at in range(start, end, -1) if not _leads(text[at - 1])), end)  # the opening quote
            parts += [Span(text[end:start].strip(), None), Span(text[start:stop].strip(), row)]
            end = stop
        return [part for part in [*parts, Span(text[end:].strip(), None)] if units(part.text)]

    def _matches(self, text: str) -> Iterator[tuple[int, int, int]]:
        """(start, end, row) of each passage, offsets in characters.

        The longest passage wins; of equal ones the passage after the last match, else the first that the next passage of
        the corpus follows here too, else the first.
        """
        spans = list(unit_spans(text))
        words = [word for word, _, _ in spans]
        at, last = 0, -2  # no passage is after it
        while at < len(words):
            rows = [
                row
                for length in range(min(ANCHOR, len(words) - at), 0, -1)
                for row in self._starts.get(tuple(words[at : at + length]), ())
                if self._stands(row, words, at)
                and (len(self._words[row]) > ANCHOR or _apart(text, spans, at, len(self._words[row])))
            ]
            if not rows:
                at += 1
                continue
            size = max(len(self._words[row]) for row in rows)
            longest = [row for row in rows if len(self._words[row]) == size]
            followed = (row for row in longest if self._stands(row + 1, words, at + size))
            last = last + 1 if last + 1 in longest else next(followed, longest[0])
            yield spans[at][1], spans[at + size - 1][2], last
            at += size

    def _stands(self, row: int, words: list[str], at: int) -> bool:
        """Whether the words of a passage stand at a place; no passage stands after the last."""
        passage = self._words[row] if row < len(self._words) else []
        return passage != [] and words[at : at + len(passage)] == passage


def _apart(text: str, spans: Sequence[tuple[str, int, int]], at: int, length: int) -> bool:
    """Whether words are a sentence or line of their own: a few words, such as a heading, stand inside any text."""
    before, after = text[: spans[at][1]], text[spans[at + length - 1][2] :]
    ends = before.rstrip(" \t\"'([*#-"), after.lstrip(" \t\"')]*:")
    return (not ends[0] or ends[0][-1] in ENDS) and (not ends[1] or ends[1][0] in ENDS)


def _closes(character: str) -> bool:
    """Whether a character after a passage belongs to it: punctuation, other than an opening quote outside ASCII."""
    return not character.isspace() and not character.isalnum() and not (_is_other(character) and _leads(character))


def _leads(character: str) -> bool:
    """Whether a character before a passage belongs to it: any but a blank; outside ASCII, opening quotes and brackets."""
    return unicodedata.category(character) in ("Ps", "Pi") if _is_other(character) else not character.isspace()


def _is_other(character: str) -> bool:
    return not character.isascii()
