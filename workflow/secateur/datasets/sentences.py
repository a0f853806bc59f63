"""Split running text into sentences with their offsets."""

import re
from collections.abc import Iterable, Iterator

import regex

from secateur.datasets.abbreviations import listed
from secateur.models.words import MOSTLY, UNSPACED, share_outside_latin

__all__ = ["sentences"]

# The published recipe of STEM, Medical and Novel, on whose sentences the reference rows rest: white space after a full
# stop, before a capital or a digit. Closing quotes and brackets belong to the boundary and thus to neither sentence.
PUBLISHED = re.compile(r"""(?<=[.!?])["')\]]*\s{1,}(?=["'(]?[A-Z0-9])""")
PUBLISHED_LINE, LINE = re.compile(r"[^\n]+"), re.compile(r"[^\n\x85\u2028\u2029]+")

# A mark that may end a sentence, with the quotes and brackets that it closes. A semicolon asks in Greek; ၊ is Myanmar's comma.
_STOP = r"[\p{Sentence_Terminal}…--[၊]]"
_CLOSING = r"[\p{Pe}\p{Pf}\p{Pi}\"'*_]"
_CLOSED = rf"(?:{_CLOSING}|\s(?=[»›]))*(?:[»›])?(?:\[\d+(?:[,–-]\s?\d+)*\])*"
_OPENED = r"[\p{Ps}\p{Pi}\p{Pf}\"'¿¡*_—–-]*\s?"
# After blanks: a capital, a letter of a script without capitals, a number, a sum, a name such as iPhone, or item b).
_BEGINS = rf"(?={_OPENED}(?:[\p{{Lu}}\p{{Lt}}\p{{Lo}}\p{{N}}\p{{Sc}}\p{{So}}]|\p{{Ll}}{{1,3}}\p{{Lu}}|\(?\p{{Ll}}\)\s))"
# Without blanks: after marks that end sentences only, and between characters of a script without blanks.
_ENDS_ONLY = r"(?:[。｡！？।॥۔؟።។။։]|(?<=\p{L})．)"
_NEXT = r"(?=[\p{Ps}\p{Pi}¿¡]*[\p{L}\p{N}])"
_UNSPACED_STOP = rf"(?<={UNSPACED})[.!?](?={UNSPACED})"
_BOUNDARY = (
    rf"(?V1)(?<!STOP)(?P<stop>STOP++)(?P<closed>{_CLOSED})(?P<blank>\s+){_BEGINS}"
    rf"|(?<!{_ENDS_ONLY})(?P<stop>{_ENDS_ONLY}++)(?P<closed>[\p{{Pe}}\p{{Pf}}\"']*){_NEXT}|(?P<stop>{_UNSPACED_STOP})"
)
ANY_BOUNDARY = regex.compile(_BOUNDARY.replace("STOP", _STOP))
GREEK_BOUNDARY = regex.compile(_BOUNDARY.replace("STOP", rf"(?:{_STOP}|(?<=\p{{Greek}})[;\u037E])"))
_GREEK, _LETTER = regex.compile(r"(?V1)[\p{Greek}&&\p{L}]"), regex.compile(r"\p{L}")
_BEFORE = regex.compile(r"(?V1)(?:[\p{L}\p{M}\p{N}]+[.'’-])*[\p{L}\p{M}\p{N}]+$")
_AFTER = regex.compile(r"(?V1)[^\p{L}\p{N}]*([\p{L}\p{M}\p{N}]+)")
_INITIAL = regex.compile(r"\s*\p{Lu}\.")
_AND_SO_ON = regex.compile(r"\bт\.\s?[дп]$|\bи др$")
_SAYS = regex.compile(r"\p{Hiragana}|[\p{Han}]{0,4}(?:说|說|道|问|問|喊|答)")  # who says a quotation that has ended
SEEN = 200  # characters before and after a mark that are looked at


def sentences(text: str, published: bool = False) -> Iterator[tuple[str, int, int]]:
    """(sentence, start, end) in reading order, stripped, never empty, never across a newline.

    published: a text in Latin letters by the recipe of the reference rows, which knows no letters but A to Z.

    >>> [s for s, _, _ in sentences("It rained. Gen. Robert E. Lee left, i.e. ran.\\nNobody followed")]
    ['It rained.', 'Gen. Robert E. Lee left, i.e. ran.', 'Nobody followed']
    >>> [s for s, _, _ in sentences("下雨了。我们走了！谁都没来")]
    ['下雨了。', '我们走了！', '谁都没来']
    """
    if published and share_outside_latin([text]) <= MOSTLY:
        lines, pattern = PUBLISHED_LINE, PUBLISHED
    else:
        lines, pattern = LINE, GREEK_BOUNDARY if _is_greek(text) else ANY_BOUNDARY
    for line in lines.finditer(text):
        marks = pattern.finditer(text, line.start(), line.end())
        ends = _published(marks) if pattern is PUBLISHED else _boundaries(marks, text, line.start(), line.end())
        first = line.start()
        for end, following in (*ends, (line.end(), line.end())):
            if sentence := text[first:end].strip():
                start = text.index(sentence[0], first)
                yield sentence, start, start + len(sentence)
            first = following


def _is_greek(text: str) -> bool:
    """Whether most letters of a text are Greek: there a semicolon asks."""
    return not text.isascii() and len(_GREEK.findall(text)) > MOSTLY * len(_LETTER.findall(text))


def _published(marks: Iterable[re.Match]) -> Iterator[tuple[int, int]]:
    return ((mark.start(), mark.end()) for mark in marks)


def _boundaries(marks: Iterable[regex.Match], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """(end of a sentence, start of the next) among the marks of a line."""
    first, opened, seen = start, 0, start
    for mark in marks:
        stop, closed = mark["stop"], mark["closed"] or ""
        after = text[mark.end() : min(end, mark.end() + SEEN)]
        before = text[max(first, mark.start() - SEEN) : mark.start()]
        opened += text.count("(", seen, mark.end()) - text.count(")", seen, mark.end())
        seen = mark.end()
        within = opened > 0 and ")" in after  # a bracket that is closed later
        is_speech = closed and not mark["blank"] and _SAYS.match(after)
        if within or is_speech or _is_said(closed, after):
            continue
        if stop == "." and not closed.strip("*_") and _goes_on(before, after):
            continue
        if stop[-1] in "!?" and _is_name(before + stop, after):
            continue
        yield mark.end() - len(mark["blank"] or ""), mark.end()
        first, opened = mark.end(), 0


def _is_said(closed: str, after: str) -> bool:
    """Whether a quotation goes on with who says it, in scripts whose letters have no case."""
    quoted = any(mark in closed for mark in '"”»')
    following = _AFTER.match(after)
    return quoted and following is not None and following[1] in listed("said")


def _is_name(before: str, after: str) -> bool:
    """Whether a mark belongs to a name, as in Yahoo! Inc."""
    following = _AFTER.match(after)
    return (
        any(before.endswith(f"{name}!") for name in ("Yahoo", "Jeopardy"))
        and following is not None
        and (following[1] in listed("firm") or following[1].isdigit())
    )


def _goes_on(before: str, after: str) -> bool:
    """Whether a full stop ends an abbreviation, an initial or the number of an item, and the sentence goes on.

    before: the sentence so far, without the stop; after: what follows.
    """
    last_word, next_word = _BEFORE.search(before[-SEEN:]), _AFTER.match(after)
    if last_word is None or next_word is None:
        return False
    word, following = last_word[0], next_word[1]
    starts = following in listed("starts")
    if before.strip(" (*_-") == word and (word.isnumeric() or (len(word) == 1 and not _INITIAL.match(after))):
        return len(word) <= 3  # of an item
    if _is_in("titles", word):
        return True
    if word in listed("measures") and regex.search(r"\p{N}\s*$", before[: -len(word)]):
        return not following[0].isupper()
    if (_is_in("numbered", word) or word.endswith("str")) and (
        following[0].isnumeric() or set(following) <= set("IVXLC")
    ):
        return True
    if word.isnumeric():
        return len(word) <= 2 and following in listed("counted")
    if _is_in("dated", word) and following[0].isnumeric():
        return True
    if word in listed("years"):
        return not regex.search(r"\p{N}\s*$", before[-SEEN : -len(word)])
    if word in listed("hours"):
        return not following[0].isupper() or following in listed("of_hours")
    if _AND_SO_ON.search(before[-SEEN:]):
        return not following[0].isupper()
    if any(_is_in(section, word) for section in ("always", "ends")) or regex.fullmatch(
        r"(?:\p{L}{1,2}\.)+\p{L}{1,2}", word
    ):
        return not starts
    return _is_initial(word, before[: -len(word)], after, starts)


def _is_in(section: str, word: str) -> bool:
    """Whether a list has a word, which may begin with a capital."""
    return word in listed(section) or (len(word) > 1 and word[0].lower() + word[1:] in listed(section))


def _is_initial(word: str, earlier: str, after: str, starts: bool) -> bool:
    """Whether a letter with a full stop is part of a name: J. K. Rowling, but vitamin C, and -3 °C."""
    devanagari = regex.fullmatch(r"\p{Devanagari}+", word)
    if len(regex.findall(r"\X", word)) > (2 if devanagari else 1) or not word[0].isalpha() or earlier.endswith("°"):
        return False
    if _INITIAL.match(after):
        return True
    lettered = _BEFORE.search(earlier[-SEEN:].rstrip())
    return not starts and not (lettered and lettered[0] in listed("lettered"))
