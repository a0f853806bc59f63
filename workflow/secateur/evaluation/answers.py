"""How close an answer comes to the gold answer, without a judge."""

import re
import string
from collections import Counter
from functools import cache

__all__ = ["answer_scores", "exact_match", "normalised", "rouge_l", "token_f1"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """SQuAD's form of an answer: lower case, without punctuation and articles, single spaces.

    >>> normalised("The  cat, an old one.")
    'cat old one'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: str) -> float:
    """Whether both have the same normal form."""
    return float(normalised(answer) == normalised(gold))


def token_f1(answer: str, gold: str) -> float:
    """F1 of the words of the normal forms, with repeats.

    >>> token_f1("the red mill", "a red and blue mill")
    0.6666666666666666
    """
    ours, theirs = normalised(answer).split(), normalised(gold).split()
    if not ours or not theirs:
        return float(ours == theirs)
    same = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * same / (len(ours) + len(theirs))


@cache
def _rouge():
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)


def rouge_l(answer: str, gold: str) -> float:
    """F of the longest common subsequence of stemmed words (Lin, 2004)."""
    return float(_rouge().score(gold, answer)["rougeL"].fmeasure)


def answer_scores(answer: str, gold: str) -> dict[str, float]:
    """All three."""
    return {
        "rouge_l": rouge_l(answer, gold),
        "token_f1": token_f1(answer, gold),
        "exact_match": exact_match(answer, gold),
    }
