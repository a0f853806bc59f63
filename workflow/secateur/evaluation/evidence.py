"""Judge-free measures of the evidence in a context, and F1 of a selection."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.contexts.table import Read
from secateur.models.words import content_words

__all__ = ["Gold", "Measured", "f1_at_gold", "gold_of", "qualifiers_of", "read_metrics", "semantic"]


_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True)
class Gold:
    """A question's gold evidence. passages: passage id -> text of what resolved; texts: every evidence text."""

    question: str
    passages: Mapping[str, str]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """How evidence is measured. min_content: share of a gold passage's new content words that edges or a shortened text
    must keep; qualifiers: words of negation, quantity, comparison and order."""

    min_content: float
    qualifiers: frozenset[str] = frozenset()


def gold_of(questions: pl.DataFrame, evidence: pl.DataFrame, passages: pl.DataFrame) -> dict[str, Gold]:
    """Gold of every question that has evidence, in file order."""
    texts = dict(passages.select("passage_id", "text").iter_rows())
    rows = evidence.sort("question_id", "n").partition_by("question_id", as_dict=True)
    found = {}
    for qid, question in questions.sort("position").select("question_id", "text").iter_rows():
        if (qid,) not in rows:
            continue
        own = rows[(qid,)]
        resolved = {p: texts[p] for p in own["passage_id"] if p is not None}
        stated = [texts[p] if t is None else t for p, t in own.select("passage_id", "text").iter_rows()]
        found[qid] = Gold(question, resolved, tuple(stated))
    return found


def _words(lines: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for line in lines:
        found |= content_words(line)
    return found


def qualifiers_of(text: str, words: frozenset[str]) -> frozenset[str]:
    """The words of a text that negate, count, compare or order: those listed, and whatever holds a digit.

    >>> sorted(qualifiers_of("It wasn't given before the 2nd of May.", frozenset({"before", "not"})))
    ['2nd', 'before', 'not']
    """
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").lower()
    found = {"not" if word.endswith("n't") else word for word in _WORD.findall(plain)}
    return frozenset(w for w in found if w in words or any(c.isdigit() for c in w))


def read_metrics(gold: Gold, read: Read, measured: Measured, sourced: bool = True) -> dict[str, float]:
    """The evidence in one context; a metric without a denominator is left out, and so is what needs provenance in a
    context that names no passage. sourced: whether a context of its kind ever names one.

    evidence_recall: share of the gold passages that are there, word for word, or else with at least `min_content` of
    the content words that the question does not already give, under their provenance. provenance_recall: under it
    anything at all. evidence_coverage: mean share of their content words under it. qualified_recall: evidence_recall of
    the gold passages with a negation or a quantity; qualified_kept: with all of these words kept. token_recall: share of
    the evidence's content words, minus the question's, anywhere in the context. tokens: of the text as sent.
    """
    asked, found = content_words(gold.question), {"tokens": float(read.tokens)}
    if gold.passages and (any(read.passages) if read.lines else sourced):
        found |= _under_provenance(gold.passages, asked, read, measured)
    new = _words(gold.texts) - asked
    if new:
        found["token_recall"] = len(new & _words(read.lines)) / len(new)
    return found


def _under_provenance(
    passages: Mapping[str, str], asked: frozenset[str], read: Read, measured: Measured
) -> dict[str, float]:
    """What is measured under the provenance of the gold passages."""
    under: dict[str, list[str]] = {}
    for line, passage in zip(read.lines, read.passages, strict=True):
        if passage in passages:
            under.setdefault(passage, []).append(line)
    present = {p for p, whole in zip(read.passages, read.whole, strict=True) if whole and p in passages}
    recall, held, qualified, kept = [], [], [], []
    for passage, text in passages.items():
        words, have = content_words(text), _words(under.get(passage, ()))
        new = words - asked
        share = len(new & have) / len(new) if new else 1.0
        there = passage in present or (passage in under and share >= measured.min_content)
        recall.append(there)
        held.append(1.0 if passage in present else len(words & have) / len(words) if words else 0.0)
        own = qualifiers_of(text, measured.qualifiers)
        if own:
            left = own - qualifiers_of(" ".join(under.get(passage, ())), measured.qualifiers)
            qualified.append(there)
            kept.append(there and not left)
    found = {"evidence_recall": recall, "provenance_recall": [p in under for p in passages], "evidence_coverage": held}
    found |= {"qualified_recall": qualified, "qualified_kept": kept} if qualified else {}
    return {name: float(np.mean(values)) for name, values in found.items()}


def semantic(gold: NDArray[np.float32], block: NDArray[np.float32]) -> float:
    """Mean over gold texts (g, d) of the best cosine to a row of the context (u, d); 0 for an empty one."""
    return float((gold @ block.T).max(1).mean()) if len(block) else 0.0


def f1_at_gold(selected: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of a selection against the gold passages.

    >>> f1_at_gold(["a", "b"], ["b", "c"])
    0.5
    """
    hits = len(set(selected) & set(gold))
    return 2 * hits / (len(selected) + len(gold)) if hits else 0.0
