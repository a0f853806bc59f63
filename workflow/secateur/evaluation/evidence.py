"""Judge-free evidence recall at token budgets, and F1 of a selected context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from secateur.models.words import content_words

__all__ = ["Block", "Gold", "block_metrics", "f1_at_gold", "gold_of", "prefix_lengths", "semantic"]


@dataclass(frozen=True)
class Gold:
    """A question's gold evidence. passages: passage id -> text of what resolved; texts: every evidence text."""

    question: str
    passages: Mapping[str, str]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """What reaches the prompt: lines with the passage each comes from; `whole` where it is the passage itself."""

    lines: Sequence[str]
    passages: Sequence[str]
    whole: Sequence[bool]


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


def prefix_lengths(tokens: NDArray[np.int64], budgets: Sequence[int]) -> list[int]:
    """How many units fit each budget when they are appended until the first that would overflow.

    >>> prefix_lengths(np.array([30, 40, 10]), [64, 128])
    [1, 3]
    """
    used = np.cumsum(tokens)
    return [int(np.searchsorted(used, budget, side="right")) for budget in budgets]


def _words(lines: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for line in lines:
        found |= content_words(line)
    return found


def block_metrics(gold: Gold, block: Block, exact_min_content: float) -> dict[str, float]:
    """exact, exact_pointer, held and novel of one evidence block; a metric without a denominator is left out.

    exact: a gold sentence counts as present whole, or, through edges, if the lines of its provenance hold at
    least `exact_min_content` of its content words that the question does not already give. exact_pointer:
    provenance alone. held: share of its content words under its provenance. novel: share of the evidence's
    content words, minus the question's, anywhere in the block.
    """
    asked, under, present = content_words(gold.question), {}, set()
    for line, passage, whole in zip(block.lines, block.passages, block.whole, strict=True):
        if passage in gold.passages:
            under.setdefault(passage, []).append(line)
            if whole:
                present.add(passage)
    found: dict[str, float] = {}
    if gold.passages:
        exact, held = [], []
        for passage, text in gold.passages.items():
            words, have = content_words(text), _words(under.get(passage, ()))
            new = words - asked
            kept = len(new & have) / len(new) if new else float(passage in under)
            exact.append(passage in present or (passage in under and kept >= exact_min_content))
            held.append(1.0 if passage in present else len(words & have) / len(words) if words else 0.0)
        found["exact"] = float(np.mean(exact))
        found["exact_pointer"] = float(np.mean([p in under for p in gold.passages]))
        found["held"] = float(np.mean(held))
    new = _words(gold.texts) - asked
    if new:
        found["novel"] = len(new & _words(block.lines)) / len(new)
    return found


def semantic(gold: NDArray[np.float32], block: NDArray[np.float32]) -> float:
    """Mean over gold texts (g, d) of the best cosine to a unit of the block (u, d); 0 for an empty block."""
    return float((gold @ block.T).max(1).mean()) if len(block) else 0.0


def f1_at_gold(selected: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of a selection against the gold passages.

    >>> f1_at_gold(["a", "b"], ["b", "c"])
    0.5
    """
    hits = len(set(selected) & set(gold))
    return 2 * hits / (len(selected) + len(gold)) if hits else 0.0
