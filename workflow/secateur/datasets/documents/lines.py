"""A document as lines, none of which ends inside a sentence, with the titles that they stand under."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

import regex

from secateur.models.words import UNSPACED

__all__ = ["ITEM", "JOINED", "Document", "Lines", "joint", "unwrapped"]

JOINED = "\0"  # in place of a line break inside a word: no text that is read has this character
WRAPPED = 0.1  # share of the breaks of full lines before a small letter from which a text is said to be hard-wrapped
FULL, NARROWEST = 0.6, 40  # share of the usual width of a full line; characters of the narrowest wrapped text
ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]")
_INSIDE = regex.compile(rf"(?V1)(?<={UNSPACED}){JOINED}(?={UNSPACED})")


@dataclass(frozen=True)
class Document:
    """A document's text, a line for each unit that holds whole sentences. titles: (place, title of what follows), sorted."""

    text: str
    titles: tuple[tuple[int, str], ...] = ()

    def title_at(self, place: int) -> str | None:
        """The title of the section that a place is in."""
        before = bisect_right(self.titles, place, key=itemgetter(0))
        return self.titles[before - 1][1] if before else None


class Lines:
    """The lines of a document as they are read, and its titles. A title that nothing follows is a line, too."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.open, self.titles, self.stack = "", [], []
        self.alone = ""  # a title that nothing has followed yet

    def end(self) -> None:
        """End the line, if it has words."""
        if line := self.open.strip():
            self.done.append(line)
            self.alone = ""
        self.open = ""

    def add(self, text: str) -> None:
        """Go on with the line."""
        self.open += text

    def head(self, level: str, text: str) -> None:
        """A heading of a level, `h1` above `h2`."""
        self.end()
        if title := " ".join(text.split()):
            self._follow_nothing(level)
            above = [(other, name) for other, name in self.stack if other < level and name != title]
            self.stack, self.alone = [*above, (level, title)], title
            start = sum(len(line) + 1 for line in self.done)
            self.titles.append((start, " / ".join(name for _, name in self.stack)))

    def _follow_nothing(self, level: str) -> None:
        """Keep the open title as a line where the next is no part of its section: nothing else would say it."""
        if self.alone and self.stack[-1][0] >= level:
            self.done.append(self.alone)
        self.alone = ""

    def document(self) -> Document:
        """What was read."""
        self.end()
        self._follow_nothing("")
        return Document("\n".join(self.done), tuple(self.titles))


def joint(before: str, after: str) -> str:
    """What stands in place of a line break inside a paragraph: a blank, or nothing between letters of scripts without blanks.

    >>> joint("e", "t"), joint("大", "学") == JOINED
    (' ', True)
    """
    return JOINED if _INSIDE.search(f"{before[-1:]}{JOINED}{after[:1]}") else " "


def unwrapped(text: str) -> str:
    """A hard-wrapped text with a blank for each break inside a paragraph; any other as it is. No character moves.

    >>> unwrapped("The mill of Thomas Finch in Leeds was built by\\nhis brothers.\\n\\n- one\\n- two")
    'The mill of Thomas Finch in Leeds was built by his brothers.\\n\\n- one\\n- two'
    >>> unwrapped("alder: bought\\nfinch: sold\\nmill: burned")
    'alder: bought\\nfinch: sold\\nmill: burned'
    """
    lines = sorted(len(line.strip()) for line in text.split("\n") if line.strip())
    width = lines[int(0.9 * len(lines))] if lines else 0
    breaks = list(re.finditer(r"(?<=\S)[ \t]*\n(?=[ \t]*\S)", text))
    full = [m for m in breaks if _length(text, m.start()) >= FULL * width]
    small = sum(text[m.end() :].lstrip(" \t")[:1].islower() for m in full)
    if width < NARROWEST or small <= WRAPPED * len(breaks):
        return text
    characters = list(text)
    for match in full:
        if not ITEM.match(text, match.end()):
            characters[match.end() - 1] = joint(text[match.start() - 1], text[match.end() :].lstrip(" \t")[:1])
    return "".join(characters)


def _length(text: str, end: int) -> int:
    """Characters of the line that ends at a place, without its indent."""
    return len(text[text.rfind("\n", 0, end) + 1 : end].lstrip())
