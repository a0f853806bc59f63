"""Warning for texts in other letters than those that some parts read."""

from collections.abc import Sequence

from secateur.models.words import share_outside_latin

__all__ = ["english_only"]

FOREIGN = 0.1  # share of letters outside Latin from which a corpus is said to have them


def english_only(texts: Sequence[str]) -> str:
    """Warning for texts with non-Latin letters: which parts read English only, and which read any script.

    Empty for Latin texts.
    """
    share = share_outside_latin(texts)
    if share < FOREIGN:
        return ""
    return (
        f"{share:.0%} of the letters are outside Latin: the extractor openie, stop words, stemming and words of negation are "
        "English. In any script: bm25, two_step, the extractor llm, and dense rankings with a multilingual embedder "
        "(docs/methods.md, What is English here)"
    )
