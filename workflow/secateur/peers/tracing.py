"""Where a text comes from: the passages that it holds word for word, whatever stands between them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Span", "Tracer"]

ANCHOR = 3  # first words of a passage by which it is looked up
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Span:
    """A part of a text, and the row of the passage that it is; None where it is none."""

    text: str
    passage: int | None


class Tracer:
    """The passages of a corpus, looked up by their first words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [[word.lower() for word in WORD.findall(text)] for text in texts]
        self._starts: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for n, words in enumerate(self._words):
            if words:
                self._starts[tuple(words[:ANCHOR])].append(n)
        for found in self._starts.values():
            found.sort(key=lambda n: (-len(self._words[n]), n))

    def passages(self, text: str) -> list[int]:
        """Rows of the passages that a text holds, in its order."""
        return [row for _, _, row in self._found(text)]

    def spans(self, text: str) -> list[Span]:
        """The whole text in parts, each a passage or what stands between two; blanks are left out."""
        parts, end = [], 0
        for start, stop, row in self._found(text):
            while stop < len(text) and not text[stop].isspace() and not text[stop].isalnum():  # its full stop
                stop += 1
            start = next((at for at in range(start, end, -1) if text[at - 1].isspace()), end)  # its opening quote
            parts += [Span(text[end:start].strip(), None), Span(text[start:stop].strip(), row)]
            end = stop
        return [part for part in [*parts, Span(text[end:].strip(), None)] if WORD.search(part.text)]

    def _found(self, text: str) -> Iterator[tuple[int, int, int]]:
        """(start, end, row) in characters; the longest where several begin, of equal ones that which follows the last."""
        words = [(match[0].lower(), match.start(), match.end()) for match in WORD.finditer(text)]
        said = [word for word, _, _ in words]
        at, last = 0, -1
        while at < len(said):
            rows = [
                row
                for length in range(min(ANCHOR, len(said) - at), 0, -1)
                for row in self._starts.get(tuple(said[at : at + length]), ())
                if said[at : at + len(self._words[row])] == self._words[row]
            ]
            if not rows:
                at += 1
                continue
            size = max(len(self._words[row]) for row in rows)
            longest = [row for row in rows if len(self._words[row]) == size]
            last = last + 1 if last + 1 in longest else longest[0]
            yield words[at][1], words[at + size - 1][2], last
            at += size
