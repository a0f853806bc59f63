"""Trace a text to the passages that it contains word for word, whatever stands between them."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from secateur.models.units import unit_spans, units

__all__ = ["Span", "Tracer", "framed", "has"]

ANCHOR = 3  # first words of a passage, the key of its look-up
ENDS = (
    "\n\r\x85\u2028\u2029.!?:;\u3002\uff01\uff1f\u0964\u061f"  # characters that end a line, a sentence or a part of one
)


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
        return [replace(part, text=part.text.strip()) for part in self._parts(text) if units(part.text)]

    def cut(self, text: str) -> list[Span]:
        """The text in parts that give it when joined; what has no words belongs to the part before it."""
        spans, lead = [], ""
        for part in self._parts(text):
            if units(part.text) and (part.passage is not None or not spans or spans[-1].passage is not None):
                spans.append(replace(part, text=lead + part.text))
                lead = ""
            elif spans:
                spans[-1] = replace(spans[-1], text=spans[-1].text + part.text)
            else:
                lead += part.text
        return spans or [Span(lead, None)]

    def _parts(self, text: str) -> Iterator[Span]:
        """Every part of a text, in order."""
        end = 0
        for start, stop, row in self._matches(text):
            while stop < len(text) and _closes(text[stop]):  # the full stop
                stop += 1
            start = next((at for at in range(start, end, -1) if not _leads(text[at - 1])), end)  # the opening quote
            yield from (Span(text[end:start], None), Span(text[start:stop], row))
            end = stop
        yield Span(text[end:], None)

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


def has(text: str, words: str, quotation: str) -> bool:
    """Whether the words of a quotation stand in a text in order and without a gap.

    A few words count as a sentence or line of their own alone. words: `framed` text, in parts or at once.
    """
    wanted = units(quotation)
    if not wanted or f" {framed(quotation)} " not in words:
        return False
    if len(wanted) > ANCHOR:
        return True
    spans = list(unit_spans(text))
    starts = range(len(spans) - len(wanted) + 1)
    return any(
        [word for word, _, _ in spans[at : at + len(wanted)]] == wanted and _apart(text, spans, at, len(wanted))
        for at in starts
    )


@lru_cache(maxsize=1 << 17)
def framed(text: str) -> str:
    """The words of a text, one blank between two."""
    return " ".join(units(text))


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
