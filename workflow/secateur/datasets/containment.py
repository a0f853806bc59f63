"""Find the passage that contains a quoted text: whole words and numbers, in lower case and without punctuation."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

import polars as pl

from secateur.models.units import units

__all__ = ["Quotable", "normalised", "quotable_groups", "unmarked"]

FOOTNOTE = re.compile(r"\[(?:\d{1,3}(?:[,–-] ?\d{1,3})*|[a-z]|citation needed)\](?!\()|(?<=\])\([^()\s]*\)")
RAISED = re.compile(r"<sup>(-?\d+)</sup>")
TAG, WITHIN = re.compile(r"</?([A-Za-z]+)[^<>\n]*>"), {"a", "b", "code", "em", "i", "mark", "span", "strong", "u"}


def normalised(text: str) -> str:
    """A text's units, one space between two; each character is one where no blanks stand.

    >>> normalised('"U. arctos" (brown\\u2011bear)'), normalised("周敏，创办")
    ('u arctos brown bear', '周 敏 创 办')
    """
    return " ".join(units(text))


def unmarked(text: str) -> str:
    """A text without what a converter puts among its words: numbers of footnotes, tags, and the addresses of links.

    >>> unmarked("Alder <b>Ltd</b>[12] bought the [mill](http://a.b/c).")
    'Alder  Ltd   bought the [mill] .'
    """
    plain = html.unescape(FOOTNOTE.sub(" ", RAISED.sub(r"^\1", text)))
    return TAG.sub(_between, plain)


def _between(tag: re.Match) -> str:
    """What stands in place of a tag: nothing within a word, as in nev<b>er</b>, else a blank."""
    letters = tag.string[: tag.start()][-1:].isalpha() and tag.string[tag.end() :][:1].isalpha()
    return "" if letters and tag[1].lower() in WITHIN else " "


class Quotable:
    """Passages joined into one string, so that one search finds a quotation among all."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str]):
        self.ids, self.texts, self.starts = list(ids), list(texts), []
        self.parts = [f" {normalised(text)} \n" for text in self.texts]
        self.text = "".join(self.parts)
        start = 0
        for part in self.parts:
            self.starts.append(start)
            start += len(part)

    @cached_property
    def unmarked(self) -> "Quotable | None":
        """The passages without a converter's marks; None where they have none."""
        texts = list(map(unmarked, self.texts))
        return Quotable(self.ids, texts) if texts != self.texts else None

    def only_holder(self, quotation: str) -> str | None:
        """Id of the only passage that contains the quotation, or of the first of several with the same words; else None.

        A quotation that no passage contains may leave out the marks of one.
        """
        needle = f" {normalised(quotation)} "
        first, last = self.text.find(needle), self.text.rfind(needle)
        if first < 0 or not needle.strip():
            return self.unmarked.only_holder(quotation) if self.unmarked else None
        first, last = (bisect_right(self.starts, offset) - 1 for offset in (first, last))
        is_one = all(part == self.parts[first] for part in self.parts[first : last + 1] if needle in part)
        return self.ids[first] if is_one else None


def quotable_groups(passages: pl.DataFrame) -> dict[str, Quotable]:
    """Group id to the quotable passages of the group."""
    groups = passages.group_by("group_id", maintain_order=True).agg("passage_id", "text")
    return {group: Quotable(ids, texts) for group, ids, texts in groups.iter_rows()}
