"""Warning for texts in other languages than the one that some parts read."""

from collections import Counter
from collections.abc import Sequence

from secateur.models.words import share_outside_latin, words

__all__ = ["FOREIGN", "english_only", "is_foreign", "seems_foreign"]

FOREIGN = 0.1  # share of letters outside Latin from which a corpus is said to have them
# English texts have 3 (dialogues) to 12 % of these words, other languages in Latin letters next to none.
ENGLISH, SHARE, LEAST = ("the", "and"), 0.015, 100  # of at least so many words


def is_foreign(texts: Sequence[str]) -> bool:
    """Whether a corpus is said to have letters outside Latin."""
    return share_outside_latin(texts) >= FOREIGN


def seems_foreign(texts: Sequence[str], share: float) -> str:
    """What tells that texts are in another language than English; empty for English, and for too few words to tell.

    share: of letters outside Latin, above which it is these that tell.
    """
    outside = share_outside_latin(texts)
    if outside >= share:
        return f"{outside:.0%} of the letters are outside Latin"
    spoken = Counter(word for text in texts for word in words(text) if word.isalpha())
    frequent = sum(spoken[word] for word in ENGLISH) / max(spoken.total(), 1)
    if frequent >= SHARE or spoken.total() < LEAST:
        return ""
    return f"{frequent:.1%} of the words are {' or '.join(ENGLISH)}, so the texts seem not to be English"


def english_only(texts: Sequence[str]) -> str:
    """Warning for texts in another language: which parts read English only, and which read any; empty for English."""
    seen = seems_foreign(texts, FOREIGN)
    return seen and (
        f"{seen}: the extractor openie, stop words, stemming, words of negation and refusals are English, and evidence counts "
        "other languages' function words as content. In any language: bm25, two_step, the extractor llm, and dense rankings "
        "with a multilingual embedder (docs/methods.md, What is English here)"
    )
