"""Which passages contain a quoted text: whole words, after lower-casing and dropping punctuation."""

import re
from bisect import bisect_right
from collections.abc import Iterable

import polars as pl

__all__ = ["Quotable", "normalised", "quotable_groups"]


def normalised(text: str) -> str:
    """Lower case, everything but word characters as one space.

    >>> normalised('"U. arctos" (brown\\u2011bear)')
    'u arctos brown bear'
    """
    return re.sub(r"[^\w]+", " ", text.lower()).strip()


class Quotable:
    """Passages joined into one string, so that finding a quotation is one search and not one per passage."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str]):
        self.ids, self.starts, parts, place = list(ids), [], [], 0
        for text in texts:
            part = f" {normalised(text)} \n"
            self.starts.append(place)
            parts.append(part)
            place += len(part)
        self.text = "".join(parts)

    def only_holder(self, quotation: str) -> str | None:
        """The id of the one passage that contains the quotation; None where none or several do."""
        needle = f" {normalised(quotation)} "
        first, last = self.text.find(needle), self.text.rfind(needle)
        if first < 0 or not needle.strip():
            return None
        holder, other = (bisect_right(self.starts, place) - 1 for place in (first, last))
        return self.ids[holder] if holder == other else None


def quotable_groups(passages: pl.DataFrame) -> dict[str, Quotable]:
    """For each group its passages, ready to be quoted from."""
    groups = passages.group_by("group_id", maintain_order=True).agg("passage_id", "text")
    return {group: Quotable(ids, texts) for group, ids, texts in groups.iter_rows()}
