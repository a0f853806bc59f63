"""Similarity of an answer to the gold answer, without a judge."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import cache

import regex

from secateur.evaluation.typed import typed_match
from secateur.models.words import PLAIN_PUNCTUATION, UNSPACED, folded, words

__all__ = ["answer_scores", "exact_match", "normalised", "rouge_l", "token_f1"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_OTHER_PUNCTUATION = regex.compile(f"(?V1){PLAIN_PUNCTUATION}")
_UNSPACED = regex.compile(rf"(?V1)({UNSPACED}\p{{M}}*)")


def normalised(text: str) -> str:
    """An answer as SQuAD normalises it: lower case, without punctuation and articles, single spaces.

    Other letters than ASCII are in NFKC; as MLQA has it (Lewis et al., 2020), each character of a script without blanks
    stands by itself.

    >>> normalised("The  cat, an old one."), normalised("在北京。")
    ('cat old one', '在 北 京')
    """
    plain = folded(text).translate(_PUNCTUATION)
    if not text.isascii():
        plain = _UNSPACED.sub(r" \1 ", _OTHER_PUNCTUATION.sub("", plain))
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(answer: str, gold: str) -> float:
    """1 if both normalise to the same text, else 0. Where nothing is left of a gold outside ASCII, texts must be equal.

    >>> exact_match("The cat!", "cat"), exact_match("!", "……")
    (1.0, 0.0)
    """
    normal = normalised(gold)
    if not normal and not (answer + gold).isascii():
        return float(folded(answer).split() == folded(gold).split())
    return float(normalised(answer) == normal)


def token_f1(answer: str, gold: str) -> float:
    """F1 of the normalised words, counted with repetition.

    >>> token_f1("the red mill", "a red and blue mill")
    0.6666666666666666
    """
    answer_words, gold_words = normalised(answer).split(), normalised(gold).split()
    if not answer_words or not gold_words:
        return exact_match(answer, gold)
    shared = sum((Counter(answer_words) & Counter(gold_words)).values())
    return 2 * shared / (len(answer_words) + len(gold_words))


class _Words:
    """Words for rouge_score, in ASCII those of its own tokenizer: Porter's stems of words with over three characters."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        self._stem = PorterStemmer().stem

    def tokenize(self, text: str) -> list[str]:
        """Words in order, each character of a script without blanks by itself."""
        return [self._stem(word) if len(word) > 3 and word.isascii() else word for word in words(text, 1)]


@cache
def _rouge():
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], tokenizer=_Words())


def rouge_l(answer: str, gold: str) -> float:
    """ROUGE-L: F1 of the longest common subsequence of stemmed words (Lin, 2004). A gold without words must be equal."""
    if gold.strip() and not words(gold):
        return float(folded(answer).split() == folded(gold).split())
    return float(_rouge().score(gold, answer)["rougeL"].fmeasure)


def answer_scores(answer: str, gold: str, aliases: Sequence[str] = ()) -> dict[str, float]:
    """ROUGE-L, token F1, SQuAD's exact match and the typed one, each the highest over all gold answers, as in SQuAD's script.

    >>> answer_scores("NYC", "New York City", ["NYC"])["exact_match"]
    1.0
    """
    scores = {"rouge_l": rouge_l, "token_f1": token_f1, "exact_match": exact_match, "typed_match": typed_match}
    return {name: max(score(answer, text) for text in (gold, *aliases)) for name, score in scores.items()}
