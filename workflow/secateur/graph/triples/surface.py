"""Surface forms of triples, and the filter that all extractors share."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, repeat
from typing import NamedTuple

from secateur.datasets.sentences import sentences

__all__ = [
    "Extraction",
    "Fact",
    "Triple",
    "filter_triples",
    "is_pronoun",
    "normalise",
    "normalised_triples",
    "word_set",
]

Fact = tuple[str, str, str]  # head, relation, tail as an extractor wrote them


def word_set(words: str) -> frozenset[str]:
    """Set of the words of a text."""
    return frozenset(words.split())


RAISED = re.compile(r"(?<=\d)[⁺⁻]?[⁰¹²³⁴-⁹]+")  # in NFKC 10⁵ would be 105, and 1½ 11⁄2
FRACTION = re.compile(r"(?<=\d)[¼-¾⅐-⅞]")
DETERMINERS = frozenset({"a", "an", "the", "this", "that", "these", "those"})
PRONOUNS = word_set(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves this that these those there here who whom whose "
    "which what that's it's each other one another something anything nothing everything someone anyone everyone"
) | {"each other", "one another"}
# Wikidata labels that extractors output when a sentence states no relation between its entities.
FILLER_RELATIONS = frozenset({"opposite of", "different from", "said to be the same as"})
# Relations that are informative only with an informative tail.
LIGHT_RELATIONS = frozenset({"part of", "has part", "has parts", "facet of", "instance of", "subclass of", "is", "are"})
GENERIC_TAILS = word_set("thing things way ways case cases example examples kind kinds type types entity concept")
TYPOGRAPHY = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2018": "'", "\u2019": "'"})
BRACKETS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Triple:
    """Normalised head, relation and tail, their original forms, and whether a pronoun head was resolved."""

    head: str
    relation: str
    tail: str
    head_original: str
    relation_original: str
    tail_original: str
    resolved: bool = False


class Extraction(NamedTuple):
    """The triples of each text of a block.

    counts: dropped triples (`dropped_REASON`) and losses, by their names in run.json. problem: the error of a block
    without a valid reply, which is not cached; else empty.
    """

    triples: list[list[Triple]]
    counts: Counter
    problem: str = ""


def normalised_triples(
    facts: Iterable[Iterable[Fact]], texts: Sequence[str] | None = None
) -> tuple[list[list[Triple]], Counter]:
    """(normalised and filtered triples of each text, counts of dropped triples) from facts as written.

    texts: what they were read from; without, each is one sentence. Of a text of several sentences nothing tells which sentence
    a fact is from, so no two count as one's.
    """
    kept, counts = [], Counter()
    stated_of = [*facts]
    for text, stated in zip([""] * len(stated_of) if texts is None else texts, stated_of, strict=True):
        triples = (Triple(normalise(h), normalise(r.lower()), normalise(t), h, r, t) for h, r, t in stated)
        good, dropped = filter_triples(triples, count() if len([*sentences(text)]) > 1 else repeat(0))
        kept.append(good)
        counts.update({f"dropped_{reason}": n for reason, n in dropped.items()})
    return kept, counts


def filter_triples(triples: Iterable[Triple], sentence: Iterable[int] = repeat(0)) -> tuple[list[Triple], Counter]:
    """(informative triples of one text in order, count of dropped triples by reason).

    AutoPrunedRetriever 2.2. Reasons: empty, self, pronoun, generic, duplicate, inverse (of the same sentence).

    sentence: of each triple.
    """
    kept: list[Triple] = []
    dropped: Counter = Counter()
    facts: set[tuple[str, str, str]] = set()
    pairs: set[tuple[int, str, str]] = set()
    for triple, place in zip(triples, sentence, strict=False):  # places go on for ever
        head, relation, tail = (part.casefold() for part in (triple.head, triple.relation, triple.tail))
        reason = _fault(triple, head, relation, tail)
        if not reason and (head, relation, tail) in facts:
            reason = "duplicate"
        if not reason and (place, tail, head) in pairs:
            reason = "inverse"
        if reason:
            dropped[reason] += 1
            continue
        facts.add((head, relation, tail))
        pairs.add((place, head, tail))
        kept.append(triple)
    return kept, dropped


def _fault(triple: Triple, head: str, relation: str, tail: str) -> str:
    """Reason to drop a triple, or an empty string."""
    if not (head.strip() and relation.strip() and tail.strip()):
        return "empty"
    if head == tail:
        return "self"
    if is_pronoun(triple.head) or is_pronoun(triple.tail):
        return "pronoun"
    if relation in FILLER_RELATIONS or (relation in LIGHT_RELATIONS and tail in GENERIC_TAILS):
        return "generic"
    return ""


def is_pronoun(text: str) -> bool:
    """True for a bare pronoun; two or more capitals are a name (IT, US, WHO)."""
    return text.lower() in PRONOUNS and not (len(text) > 1 and text.isupper())


def normalise(text: str) -> str:
    """Surface form: NFKC, single spaces, no determiners or punctuation at the ends; case and inner marks stay.

    AutoPrunedRetriever 2.2. Idempotent; empty for a text of determiners and punctuation only.
    """
    if not text.isascii():
        text = RAISED.sub(r"^\g<0>", FRACTION.sub(r" \g<0>", text))
        text = unicodedata.normalize("NFKC", text).translate(TYPOGRAPHY)
    text = " ".join(text.split())
    while (shorter := _strip_determiners(_strip_punctuation(text))) != text:
        text = shorter
    return text


def _strip_determiners(text: str) -> str:
    """Remove a determiner at either end, except a final capital A (vitamin A) and the head of "those of"."""
    first, _, stripped = text.partition(" ")
    if first.lower() in DETERMINERS and (stripped or first != "A") and not stripped.startswith("of "):
        return stripped
    stripped, _, last = text.rpartition(" ")
    return stripped if last in {"a", "an", "the"} else text


def _strip_punctuation(text: str) -> str:
    """Remove punctuation and enclosing brackets at the ends."""
    start, end = 0, len(text)
    if text[:1].isalnum() and text[-1:].isalnum():
        return text
    while start < end and _loose_start(text[start:end]):
        start += 1
    while start < end and _loose_end(text[start:end]):
        end -= 1
    return text[start:end].strip()


def _loose_start(text: str) -> bool:
    """True if the first character is removable punctuation; false for -5, –$2, .5, #3, (R)-lactate."""
    first, following = text[0], text[1:2]
    if first in BRACKETS:
        partner = _partner(text)
        return partner in (-1, len(text) - 1)
    if first == "–" or (first == "-" and not following.isalnum()):
        return not re.match(r"[.$€£¥]?\d", text[1:])
    if first in "-.#@%&" and following.isalnum():
        return first == "-" and not following.isdigit()
    return _is_mark(first)


def _loose_end(text: str) -> bool:
    """True if the last character is removable punctuation; false for U.S., C#, 5 %, f(x)."""
    last, before = text[-1], text[-2:-1]
    word = text.rsplit(" ", 1)[-1]
    if last == ".":
        return "." not in word[:-1].strip(".") or not before.isalpha()
    if last in BRACKETS.values():
        opening = next(o for o, c in BRACKETS.items() if c == last)
        return text.count(opening) < text.count(last)
    if (last in "%#" and before.isalnum()) or (last in "%‰" and text[:-1].rstrip()[-1:].isdigit()):
        return False
    return _is_mark(last)


def _partner(text: str) -> int:
    """Place of the bracket that closes the first one, or -1."""
    opening, closing, depth = text[0], BRACKETS[text[0]], 0
    for place, character in enumerate(text):
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return place
    return -1


def _is_mark(character: str) -> bool:
    """True for punctuation, control and format characters, white space, and back-ticks used as quotes."""
    return unicodedata.category(character)[0] in "PC" or character in "`\u00b4" or character.isspace()
