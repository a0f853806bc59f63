"""Find the passage that contains a quoted text: whole words, in lower case and without punctuation."""

from bisect import bisect_right
from collections.abc import Iterable

import polars as pl

from secateur.models.words import units

__all__ = ["Quotable", "normalised", "quotable_groups"]


def normalised(text: str) -> str:
    """A text's words in lower case and NFKC, one space between two; each character is one where no blanks stand.

    >>> normalised('"U. arctos" (brown\\u2011bear)'), normalised("周敏，创办")
    ('u arctos brown bear', '周 敏 创 办')
    """
    return " ".join(units(text))


class Quotable:
    """Passages joined into one string, so that one search finds a quotation among all."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str]):
        parts = [f" {normalised(text)} \n" for text in texts]
        self.ids, self.starts, self.text = list(ids), [], "".join(parts)
        start = 0
        for part in parts:
            self.starts.append(start)
            start += len(part)

    def only_holder(self, quotation: str) -> str | None:
        """Id of the only passage that contains the quotation; None if no passage or several do."""
        needle = f" {normalised(quotation)} "
        first, last = self.text.find(needle), self.text.rfind(needle)
        if first < 0 or not needle.strip():
            return None
        first, last = (bisect_right(self.starts, offset) - 1 for offset in (first, last))
        return self.ids[first] if first == last else None


def quotable_groups(passages: pl.DataFrame) -> dict[str, Quotable]:
    """Group id to the quotable passages of the group."""
    groups = passages.group_by("group_id", maintain_order=True).agg("passage_id", "text")
    return {group: Quotable(ids, texts) for group, ids, texts in groups.iter_rows()}
