"""Which words of a question a passage lacks. A ranking by words sees the others; what the passage says of these, it cannot."""

import re
from collections.abc import Sequence

from secateur.models.words import content_words

__all__ = ["lacking"]

_WORD = re.compile(r"[\w']+")


def lacking(text: str, spans: Sequence[tuple[int, int]], own: str) -> list[bool]:
    """For each token of a question, by its characters in the text: whether it is of a content word that `own` lacks.

    >>> lacking("Can Ann buy ponies?", [(0, 3), (3, 7), (7, 11), (11, 16), (16, 18), (18, 19)], "Ann saw a pony.")
    [False, False, True, False, False, False]
    """
    has = content_words(own)
    new = [m.span() for m in _WORD.finditer(text) if (word := content_words(m[0])) and not word & has]
    return [any(low < stop and start < high for start, stop in new) for low, high in spans]
