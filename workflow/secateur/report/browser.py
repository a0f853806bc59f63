"""The data of the page's question browser: questions, and the context that each system sends for them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from secateur.report.trace import Trace, Traces

__all__ = ["BYTES", "SYSTEMS", "Set", "best", "browsed"]

BYTES = 12_000_000  # bytes of the data; the page stays below 20 MB and opens in seconds
SYSTEMS = 12  # systems of a data set
AT_BUDGET = ("evidence_recall", "evidence_coverage", "token_recall", "provenance_recall", "answer_gain")
WITHOUT_BUDGET = ("f1_at_gold", "rouge_l", "token_f1", "exact_match", "typed_match")


@dataclass(frozen=True)
class Set:
    """A data set: system -> traces of its questions.

    budget: tokens allowed, or the system made elsewhere whose length the contexts have; None for turns of dialogues.
    """

    name: str
    systems: Mapping[str, Traces]
    budget: int | str | None


class _Texts:
    """Distinct texts and their numbers: systems send the same sentences."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.bytes = 0

    def __call__(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.numbers)
            self.bytes += len(text.encode())
        return self.numbers[text]


def browsed(sets: Sequence[Set], most: int = BYTES) -> dict[str, Any]:
    """The texts, and the systems and questions of each data set, within `most` bytes.

    A data set with too many questions shows those with the smallest hashes of their ids; `of` counts all of them.
    """
    texts = _Texts()
    shown = [_set(dataset, texts, most // len(sets)) for dataset in sets]
    return {"texts": list(texts.numbers), "sets": shown}


def _set(dataset: Set, texts: _Texts, most: int) -> dict[str, Any]:
    ids = list(next(iter(dataset.systems.values()), ()))
    questions, size = {}, 0
    for question_id in sorted(ids, key=_hash):
        before = texts.bytes
        question = _question([traces[question_id] for traces in dataset.systems.values()], dataset.budget, texts)
        size += texts.bytes - before + len(json.dumps(question, ensure_ascii=False).encode())
        if size > most and questions:
            break
        questions[question_id] = question
    return {
        "name": dataset.name,
        "budget": dataset.budget,
        "of": len(ids),
        "systems": list(dataset.systems),
        "questions": [questions[question_id] for question_id in ids if question_id in questions],
    }


def _question(traces: Sequence[Trace], budget: int | str | None, texts: _Texts) -> dict[str, Any]:
    """A question with its gold evidence, and its context under each system."""
    question = traces[0].question
    return {
        "id": question["question_id"],
        "q": question["text"],
        "a": question["answer"] or "",
        "t": question["type"] or "",
        "gold": [texts(row["text"]) for row in traces[0].evidence],
        "rows": [_context(trace, budget, texts) for trace in traces],
    }


def _context(trace: Trace, budget: int | str | None, texts: _Texts) -> dict[str, Any]:
    """A context as numbers of texts, -1 minus the number for gold evidence; its tokens, figures and answer."""
    names = {f"{name}@{budget}": name for name in AT_BUDGET} | {name: name for name in WITHOUT_BUDGET}
    numbers = [(texts(row["text"]), row["passage_id"] in trace.gold) for row in trace.context]
    return {
        "p": [-1 - number if gold else number for number, gold in numbers],
        "k": trace.tokens,
        "f": {names[metric]: round(value, 3) for metric, value in trace.figures.items() if metric in names},
        "s": trace.answer,
    }


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def best(figures: pl.DataFrame, metric: str = "f1_at_gold") -> list[str]:
    """The scorers with the highest means of a metric, at most SYSTEMS.

    >>> best(pl.DataFrame({"scorer": ["a", "b"], "metric": ["f1_at_gold"] * 2, "value": [0.2, 0.4]}))
    ['b', 'a']
    """
    means = figures.filter(metric=metric).group_by("scorer").agg(pl.col("value").mean())
    return means.sort("value", "scorer", descending=[True, False]).head(SYSTEMS)["scorer"].to_list()
