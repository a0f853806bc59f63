"""Sentences of running text, with their place in it."""

import re
from collections.abc import Iterator

__all__ = ["sentences"]

# White space after a full stop, before a capital or a digit. Closing quotes and brackets belong to the boundary
# and thus to neither sentence: that is the published recipe, and the reference rows rest on its sentences.
BOUNDARY = re.compile(r"""(?<=[.!?])["')\]]*\s{1,}(?=["'(]?[A-Z0-9])""")
LINE = re.compile(r"[^\n]+")


def sentences(text: str) -> Iterator[tuple[str, int, int]]:
    """(sentence, start, end) in reading order, stripped, never empty, never across a newline.

    >>> [s for s, _, _ in sentences("It rained. We left, i.e. ran.\\nNobody followed")]
    ['It rained.', 'We left, i.e. ran.', 'Nobody followed']
    """
    for line in LINE.finditer(text):
        start = line.start()
        for boundary in BOUNDARY.finditer(text, line.start(), line.end()):
            yield from _stripped(text, start, boundary.start())
            start = boundary.end()
        yield from _stripped(text, start, line.end())


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    sentence = text[start:end].strip()
    if sentence:
        start += len(text[start:end]) - len(text[start:end].lstrip())
        yield sentence, start, start + len(sentence)
