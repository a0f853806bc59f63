"""Passages without function words: fewer tokens, harder to read.

Words of negation, quantity, comparison and order stay: "never given without food" must not become "given food".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from secateur.contexts.piece import Form, Material, Piece, Query, Ranked, TextForm
from secateur.core.fields import key
from secateur.models.words import UNSPACED, with_apostrophes

# Prepositions of time and rank stay too.
FUNCTION_WORDS = """
    a an the am is are was were be been being do does did doing have has had having will would shall should can could
    may might must i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers
    herself it its itself they them their theirs themselves this that these those there here who whom whose which what
    of to in on at by for with from into as and so also such it's that's there's
"""

_UNSPACED = regex.compile(f"(?V1){UNSPACED}")
_ENDS = regex.compile(r"[.!?:;…]\W*$")  # before the first word of a sentence
_ACRONYM = regex.compile(r"\W*\p{Lu}{2,}\W*")
_CAPITALISED = regex.compile(r"[^\p{L}\"'“‘«]*\p{Lu}\p{L}")


@dataclass(frozen=True)
class Settings:
    """The words to drop."""

    drop: tuple[str, ...] = key("words to drop, in lower case", default=tuple(FUNCTION_WORDS.split()))


def without(text: str, drop: frozenset[str]) -> str:
    """A text without the tokens that consist of dropped words alone; unchanged if nothing would remain.

    A token with letters of a script without blanks stays: it is a clause, whatever Latin word stands in it. A dropped
    word stays where it is written as a name: in capitals, or with a capital inside a sentence.

    >>> without("It was never given without the food.", frozenset({"it", "was", "the"}))
    'never given without food.'
    >>> without("The US and the WHO met in May.", frozenset({"the", "us", "and", "who", "in", "may"}))
    'US WHO met May.'
    """
    kept, first, mixed = [], True, not text.isupper()
    for token in text.split():
        words = with_apostrophes(token)
        is_name = mixed and (_ACRONYM.fullmatch(token) or (not first and _CAPITALISED.match(token)))
        if not words or any(word not in drop for word in words) or _UNSPACED.search(token) or is_name:
            kept.append(token)
        first = bool(_ENDS.search(token))
    return " ".join(kept) or text


class _Dense(TextForm):
    def __init__(self, settings: Settings, material: Material) -> None:
        super().__init__(material)
        self.drop = frozenset(settings.drop)

    def pieces(self, query: Query, ranked: Sequence[Ranked]) -> list[Piece]:
        ids = dict.fromkeys(unit.passage_id for unit in ranked)
        return [Piece(p, without(self.texts[p], self.drop)) for p in ids]


def form(settings: Settings, material: Material) -> Form:
    """Every passage once, without the words of `drop`."""
    return _Dense(settings, material)
