"""Similarity of an answer to the gold answer, without a judge."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache

__all__ = ["answer_scores", "exact_match", "normalised", "rouge_l", "token_f1"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """An answer as SQuAD normalises it: lower case, without punctuation and articles, single spaces.

    >>> normalised("The  cat, an old one.")
    'cat old one'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: str) -> float:
    """1 if both normalise to the same text, else 0."""
    return float(normalised(answer) == normalised(gold))


def token_f1(answer: str, gold: str) -> float:
    """F1 of the normalised words, counted with repetition.

    >>> token_f1("the red mill", "a red and blue mill")
    0.6666666666666666
    """
    words, gold_words = normalised(answer).split(), normalised(gold).split()
    if not words or not gold_words:
        return float(words == gold_words)
    shared = sum((Counter(words) & Counter(gold_words)).values())
    return 2 * shared / (len(words) + len(gold_words))


@cache
def _rouge():
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)


def rouge_l(answer: str, gold: str) -> float:
    """ROUGE-L: F1 of the longest common subsequence of stemmed words (Lin, 2004)."""
    return float(_rouge().score(gold, answer)["rougeL"].fmeasure)


def answer_scores(answer: str, gold: str, aliases: Sequence[str] = ()) -> dict[str, float]:
    """ROUGE-L, token F1 and exact match, each the highest over all gold answers, as in SQuAD's and MuSiQue's scripts.

    >>> answer_scores("NYC", "New York City", ["NYC"])["exact_match"]
    1.0
    """
    scores = {"rouge_l": rouge_l, "token_f1": token_f1, "exact_match": exact_match}
    return {name: max(score(answer, text) for text in (gold, *aliases)) for name, score in scores.items()}
