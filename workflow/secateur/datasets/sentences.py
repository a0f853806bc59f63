"""Split running text into sentences with their offsets."""

import re
from collections.abc import Iterator

import regex

from secateur.models.words import MOSTLY, UNSPACED, share_outside_latin

__all__ = ["sentences"]

# White space after a full stop, before a capital or a digit. Closing quotes and brackets belong to the boundary
# and thus to neither sentence: that is the published recipe, and the reference rows rest on its sentences.
BOUNDARY = re.compile(r"""(?<=[.!?])["')\]]*\s{1,}(?=["'(]?[A-Z0-9])""")

# Texts in other letters than ASCII: the same after the sentence ends of all scripts, before any letter that is no
# small one. Other closing quotes stay with the sentence before.
_STOP = r"[\p{Sentence_Terminal}…--[၊]]"  # ၊ is Myanmar's comma
_GREEK_STOP = rf"(?:{_STOP}|(?<=\p{{Greek}})[;\u037E])"  # ; asks in Greek
_CLOSED = r"[\p{Pe}\p{Pf}\p{Pi}--[\p{ASCII}]]*"
_OPENED = r"[\p{Ps}\p{Pi}\p{Pf}\"'¿¡]*"
_BLANK = rf"[\"')\]]*[\s\x1c-\x1f]+(?={_OPENED}[\p{{Lu}}\p{{Lt}}\p{{Lo}}\p{{N}}])"
# No blank is needed after a mark that ends sentences only, or between two characters of a script without blanks. Hiragana
# after a closing quote goes on with the sentence that quotes.
_END = r"(?:[。｡！？।॥۔؟።។။։]|(?<=\p{L})．)[\p{Pe}\p{Pf}\"']*"
_NEXT = r"(?=[\p{Ps}\p{Pi}¿¡]*[\p{L}\p{N}])(?!(?<=[\p{Pe}\p{Pf}\"'])\p{Hiragana})"
_AT_ONCE = rf"(?<={_END}){_NEXT}|(?<={UNSPACED}[.!?])(?={UNSPACED})"
ANY_BOUNDARY = regex.compile(rf"(?V1)(?<={_STOP}{_CLOSED}){_BLANK}|{_AT_ONCE}")
GREEK_BOUNDARY = regex.compile(rf"(?V1)(?<={_GREEK_STOP}{_CLOSED}){_BLANK}|{_AT_ONCE}")
_GREEK, _LETTER = regex.compile(r"(?V1)[\p{Greek}&&\p{L}]"), regex.compile(r"\p{L}")
PUBLISHED_LINE, LINE = re.compile(r"[^\n]+"), re.compile(r"[^\n\x85\u2028\u2029]+")


def sentences(text: str, published: bool = False) -> Iterator[tuple[str, int, int]]:
    """(sentence, start, end) in reading order, stripped, never empty, never across a newline.

    published: a text in Latin letters by the recipe of the reference rows, which knows no letters but A to Z.

    >>> [s for s, _, _ in sentences("It rained. We left, i.e. ran.\\nNobody followed")]
    ['It rained.', 'We left, i.e. ran.', 'Nobody followed']
    >>> [s for s, _, _ in sentences("下雨了。我们走了！谁都没来")]
    ['下雨了。', '我们走了！', '谁都没来']
    """
    published = text.isascii() or (published and share_outside_latin([text]) <= MOSTLY)
    pattern, lines = (BOUNDARY, PUBLISHED_LINE) if published else (_boundary(text), LINE)
    for line in lines.finditer(text):
        boundaries = [*pattern.finditer(text, line.start(), line.end())]
        starts = [line.start(), *(boundary.end() for boundary in boundaries)]
        ends = [*(boundary.start() for boundary in boundaries), line.end()]
        for start, end in zip(starts, ends, strict=True):
            if sentence := text[start:end].strip():
                start += len(text[start:end]) - len(text[start:end].lstrip())
                yield sentence, start, start + len(sentence)


def _boundary(text: str) -> regex.Pattern:
    """The expression of a text's boundaries: a semicolon asks in a text that is mostly Greek, not beside a Greek quotation."""
    return GREEK_BOUNDARY if len(_GREEK.findall(text)) > MOSTLY * len(_LETTER.findall(text)) else ANY_BOUNDARY
