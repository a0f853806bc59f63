"""What a text means by its words: units, and content words.

A number with its sign, decimals and percent or currency sign is one unit ("-5", "3.5%", "$5", "1200" for 1,200), and so are
"C++", "C#", "AT&T", initials with full stops ("us" for U.S.), and a word that a line's end parts. Where no blanks stand, each
character is one.

Content words are the units without English function words, plurals S-stemmed. Case and position tell May from may.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from sys import intern

import regex

from secateur.models.words import INNER, UNSPACED, folded

__all__ = ["content_words", "stem", "unit_spans", "units", "word_list"]

_CHARACTER = regex.compile(rf"(?V1){UNSPACED}{INNER}*")
_BROKEN = r"(?:-[ \t]*\n[ \t]*(?=[a-z])|\u00AD[ \t]*\n[ \t]*)"  # a word goes on in the next line


def _odd_units(word: str, letter: str, inner: str = "", mark: str = "") -> str:
    """Units that hold more than letters and digits. word, letter: characters of words and letters, as of a kind of text.

    inner, mark: what goes with the character before it.
    """
    apart, ends = rf"(?<!{word}{inner})", rf"(?!{word}{mark})"
    compared = r"(?:(?<=[\w)\]] )|(?<=[\w)\]]))[<>≤≥≠]\s?"  # p < .05
    sign = rf"(?:{compared}|{apart})(?:{apart}(?<![)\]%.])(?:[-–](?=[\d$€£¥₹.])|−\s?(?=[\d$€£¥₹.])))?"
    currency = r"(?:(?:US|AU|CA|NZ|HK|[AC])?\$\s?|[€£¥₹]\s?)?"
    digits = (
        r"(?:\d+/\d+/\d+(?!\d)|\d+[ -]\d+/\d+(?![\d/])|(?<![/\d])\d+/\d+(?![\d/])|\d{1,3}(?:[  '’]\d{3})+(?![\d])"
        rf"|\d+[¼-¾⅐-⅞]|\d+(?:[.,:]\d+)*(?:\^-?\d+|[⁰¹²³⁴-⁹⁻]+|e[-+]?\d+)?[A-Za-z]{{0,4}}{ends}|\d+(?:[.,:]\d+)+"
        r"|(?<![^\s(\[$€£¥₹<>≤≥≠−–-])\.\d+)"
    )
    measure = r"(?:\s?(?:[%‰€]|per ?cent\b)|[$£¥₹](?!\d)|\s?°(?:\s?[CF]\b)?)?"
    return "|".join(
        [
            rf"{apart}(?P<initials>{letter}(?:\.{letter})+){ends}",  # U.S., a.m.
            rf"(?P<number>{sign}{currency}{digits}{measure})",
            rf"{apart}{letter}{{1,2}}(?:\+\+?(?!{word}|\+)|[#♯♭]{ends}|[−⁻⁺]{ends}|-(?=[\s,.;)]|$)(?<![a-z]-))",  # C++, O-
            r"[A-Za-z0-9]+(?:&[A-Za-z0-9]+)+|[A-Za-z]+\d+(?:\.\d+)+",  # AT&T, v1.2
        ]
    )


_ASCII_ODD = _odd_units("[A-Za-z0-9_]", "[A-Za-z]")
_ASCII_UNIT = re.compile(rf"{_ASCII_ODD}|[^\W_]+(?:(?<=[a-z]){_BROKEN}[a-z]+)+|[^\W_]+(?:_+[^\W_]+)*", re.ASCII)
_ODD = _odd_units(rf"[[\p{{L}}\p{{N}}_]--{UNSPACED}]", rf"(?:[\p{{L}}--{UNSPACED}]{INNER}*+)", rf"{INNER}*", r"|\p{M}")
_SPACED = rf"(?:[[\p{{L}}\p{{N}}]--{UNSPACED}]{INNER}*)+"
_UNIT = regex.compile(
    rf"(?V1){_ODD}|{UNSPACED}{INNER}*|{_SPACED}(?:(?<=\p{{Ll}}\u00AD?){_BROKEN}{_SPACED})+|{_SPACED}(?:_+{_SPACED})*"
)
PRONOUNS = frozenset({"us", "it", "me", "he", "we", "i"})
_THOUSANDS, _JOINT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"), re.compile(_BROKEN)


def units(text: str) -> list[str]:
    """What texts are compared by: words and numbers with all that belongs to them.

    >>> units("foo_bar, 茶厂 of the U.S."), units("It cost $1,200 at -5 °C"), units("infor-\\nmation in C++")
    (['foo_bar', '茶', '厂', 'of', 'the', 'u.s'], ['it', 'cost', '$1200', 'at', '-5°c'], ['information', 'in', 'c++'])
    """
    return [unit for unit, _, _ in unit_spans(text)]


def unit_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """(unit, start, end) of a text, offsets in its characters as they are."""
    for match in (_ASCII_UNIT if text.isascii() else _UNIT).finditer(text):
        written = match[0]
        if match["number"]:
            unit = _number(written)
        elif match["initials"]:
            unit = _unit(written.replace(".", ""))
            unit = _unit(written) if unit in PRONOUNS else unit  # the U.S. is not us
        else:
            unit = _unit(written)
        yield unit, match.start(), match.end()


@lru_cache(maxsize=1 << 18)
def _unit(written: str) -> str:
    """A unit as it is compared: without case, and the hyphen at a line's end."""
    return folded(_JOINT.sub("", written)).replace("⁄", "/")  # ½ is 1/2


@lru_cache(maxsize=1 << 16)
def _number(written: str) -> str:
    """A number as it is compared: without separators of thousands; its currency first, its percent sign last."""
    raised = re.sub(r"[⁰¹²³⁴-⁹⁻]+", lambda mark: "^" + folded(mark[0]), written)
    mixed = re.sub(r"(?<=\d)(?:[ -](?=\d+/)|(?=[¼-¾⅐-⅞]))", "+", raised)  # 1½ is 1+1/2
    plain = re.sub(r"[−–]", "-", folded(re.sub(r"[\s'’]", "", mixed)).replace("⁄", "/"))
    for sign in ("percent", "%"):
        plain = plain.removesuffix(sign) + "%" * plain.endswith(sign)
    if plain[-1] in "€$£¥₹":
        plain = plain[-1] + plain[:-1]
    digits = _THOUSANDS.search(plain)
    grouped = digits is not None and digits[0] in re.split(r"[^\d,.]", plain)
    return plain.replace(digits[0], digits[0].replace(",", "")) if grouped else plain


# --- content words -------------------------------------------------------------------------------

# Snowball's English list (Porter), without negations and words of quantity, which are content.
SNOWBALL = """
    i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
    itself they them their theirs themselves what which who whom whose this that these those am is are was were be been being
    have has had having do does did doing would should could ought will can may might must shall a an the and but if or because
    as until while of at by for with about against between into through during before after above below to from up down in out
    on off over under again further then once here there when where why how other such own same so than too very
    eg ie etc
"""
FUNCTION_WORDS = frozenset(SNOWBALL.split())
NAMES_TOO = frozenset({"will", "may", "can"})  # names, a month and a thing where they begin with a capital
CLITICS = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})  # after an apostrophe
MOST_CAPITALS = 3  # words in capitals alone that may be a name
LEADS = frozenset({"in", "of", "by", "since", "until", "from", "to", "for", "with", "on"})  # what stands before a name
# What follows the verb of a question: "Will the ...", "May I ...".
NO_SUBJECT = "is was has had did does in of at by for with from and or will before after until during"
ASKED_OF = FUNCTION_WORDS - NAMES_TOO - {*NO_SUBJECT.split()}


def stem(word: str) -> str:
    """Harman's S-stemmer (1991): plural endings only.

    >>> [stem(w) for w in ("ponies", "caresses", "bears", "gas", "focus")]
    ['pony', 'caresse', 'bear', 'ga', 'focus']
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


@lru_cache(maxsize=1 << 18)
def _content(unit: str) -> str:
    """A unit's stem; empty for English function words."""
    if not unit.isascii():
        return unit
    if unit == "cannot":
        return "not"
    return "" if unit in FUNCTION_WORDS else stem(unit) if unit.isalnum() else unit


def _names(written: str, before: str, following: str) -> bool:
    """Whether a function word is written as a name: US, IT and WHO, or Will, May and Can, unless they begin a question."""
    if written.isupper():
        return len(written) > 1
    capital = written[0].isupper() and written.lower() in NAMES_TOO
    return capital and (before in LEADS or following not in ASKED_OF)


@lru_cache(maxsize=1 << 18)
def word_list(text: str) -> tuple[str, ...]:
    """Content words in order, with repeats: units without function words; where no blanks stand, each two characters.

    >>> word_list("Will the US pay Bill's 3.5 % in May? It won't."), word_list("谁创办 iPhone 15?")
    (('us', 'pay', 'bill', '3.5%', 'may', 'not'), ('谁创', '创办', 'iphone', '15'))
    """
    if text.isupper() and len(text.split()) > MOST_CAPITALS:
        text = text.lower()  # its case tells nothing
    spans = [*unit_spans(text)]
    contents, run = [], ""
    for n, (unit, start, end) in enumerate(spans):
        if not unit.isascii() and _CHARACTER.fullmatch(text, start, end):
            follows = n + 1 < len(spans) and spans[n + 1][1] == end and _CHARACTER.fullmatch(text, end, spans[n + 1][2])
            if follows or not run:
                contents.append(unit + spans[n + 1][0] if follows else unit)
            run = unit if follows else ""
            continue
        before = spans[n - 1][0] if n else ""
        if unit in CLITICS and n and spans[n - 1][2] == start - 1 and text[start - 1] in "'’":
            if unit == "t":
                contents[:] = [*(contents[:-1] if contents[-1:] == [before] else contents), "not"]  # won't, isn't
            continue
        following = spans[n + 1][0] if n + 1 < len(spans) and text[end : spans[n + 1][1]].isspace() else ""
        if "_" in unit:
            contents += filter(None, map(_content, unit.split("_")))
            continue
        bare = unit.replace(".", "") if "." in unit and unit.replace(".", "") in PRONOUNS else unit
        word = _content(bare)
        if not word and (bare != unit or _names(text[start:end], before, following)):
            word = bare
        if word:
            contents.append(word)
    return tuple(map(intern, contents))


@lru_cache(maxsize=1 << 18)
def content_words(text: str) -> frozenset[str]:
    """Distinct content words of a text."""
    return frozenset(word_list(text))
