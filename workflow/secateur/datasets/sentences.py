"""Split running text into sentences with their offsets."""

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
        boundaries = [*BOUNDARY.finditer(text, line.start(), line.end())]
        starts = [line.start(), *(boundary.end() for boundary in boundaries)]
        ends = [*(boundary.start() for boundary in boundaries), line.end()]
        for start, end in zip(starts, ends, strict=True):
            if sentence := text[start:end].strip():
                start += len(text[start:end]) - len(text[start:end].lstrip())
                yield sentence, start, start + len(sentence)
