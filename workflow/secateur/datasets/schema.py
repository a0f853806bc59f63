"""What every loader is asked and returns: the frames of passages, questions and evidence, and counts of what was repaired."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from secateur.core.tables.catalog import TABLES

__all__ = [
    "Asked",
    "Cluster",
    "Corpus",
    "Questions",
    "drawn",
    "evidence_frame",
    "evidence_rows",
    "first_questions",
    "passages_frame",
    "question_counts",
    "questions_frame",
    "shuffled",
    "some_documents",
    "some_questions",
    "split_of",
]

TEST_ONLY = frozenset({"locomo", "stem_dev"})
TRAIN, DEV = 0.6, 0.8


Cluster = Literal["group", "document"]


@dataclass(frozen=True)
class Asked:
    """What is asked of a loader of questions: whose, resampled by what, and whether about a sample of the documents."""

    dataset: str
    cluster: Cluster = "document"
    sampled: bool = False


@dataclass(frozen=True)
class Corpus:
    """Passages, and counts of what was dropped or repaired on the way."""

    passages: pl.DataFrame
    counts: dict[str, int]


@dataclass(frozen=True)
class Questions:
    """Questions, their evidence, and counts of what was dropped, repaired or left unresolved."""

    questions: pl.DataFrame
    evidence: pl.DataFrame
    counts: dict[str, int]


def passages_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a `passages` frame; a column that no row has is null."""
    return _frame("passages", rows)


def shuffled(passages: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The passages of each document in a random order: the control of whatever looks at position."""
    order = passages.sort("doc_id", "position").with_columns(
        draw=pl.Series(np.random.default_rng(seed).permutation(passages.height))
    )
    place = order.sort("doc_id", "draw").with_columns(
        position=pl.int_range(pl.len(), dtype=pl.Int32).over("doc_id").cast(passages.schema["position"])
    )
    return place.select(passages.columns)


def questions_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a `questions` frame."""
    return _frame("questions", rows)


def evidence_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as an `evidence` frame."""
    return _frame("evidence", rows)


def _frame(table: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=TABLES[table].empty().schema)


def _draw(name: str) -> str:
    """What a name is sampled by: not the hash that decides its split."""
    return hashlib.sha256(f"sample:{name}".encode()).hexdigest()


def some_documents(passages: pl.DataFrame, count: int) -> pl.DataFrame:
    """The passages of so many documents: the first by hash of their name, so a larger sample holds a smaller one."""
    return passages.filter(pl.col("doc_id").is_in(drawn(passages["doc_id"], count)))


def drawn(names: Iterable[str], count: int | None) -> set[str]:
    """So many names, the first by hash; all where no number is given."""
    return set(sorted(set(names), key=_draw)[:count])


def some_questions(found: Questions, counts: Mapping[str, int]) -> Questions:
    """So many questions of each split that is named, the first by hash of their id, and their evidence."""
    draws = found.questions.with_columns(draw=pl.col("question_id").map_elements(_draw, return_dtype=pl.String))
    place = pl.col("draw").rank("ordinal").over("split")
    kept = pl.any_horizontal(
        ~pl.col("split").is_in(list(counts)),
        *((pl.col("split") == split) & (place <= n) for split, n in counts.items()),
    )
    return _kept(found, draws.filter(kept).select(found.questions.columns))


def first_questions(found: Questions, split: str, count: int) -> Questions:
    """So many questions of the reported split, the first by hash of their id, and none of the others."""
    own = found.questions if split == "all" else found.questions.filter(split=split)
    return _kept(found, own.filter(pl.col("question_id").is_in(drawn(own["question_id"], count))))


def _kept(found: Questions, questions: pl.DataFrame) -> Questions:
    """Some of the questions, with their evidence."""
    evidence = found.evidence.join(questions, on="question_id", how="semi", maintain_order="left")
    return Questions(questions, evidence, found.counts | {"questions_sampled": questions.height})


def split_of(dataset: str, question_id: str) -> str:
    """train, dev or test, by hash of data set and id, so that a question keeps its split when others come or go.

    >>> split_of("locomo", "conv-26:q0")
    'test'
    """
    if dataset in TEST_ONLY:
        return "test"
    place = int(hashlib.sha256(f"{dataset}:{question_id}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if place < TRAIN else "dev" if place < DEV else "test"


def evidence_rows(question_id: str, found: Iterable[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """Numbered evidence of one question from (text, passage id or None) pairs.

    Gold that names a passage twice counts once; the row then carries both texts, so that no word is lost.
    """
    merged: dict[tuple[str, str], str] = {}
    for text, passage_id in found:
        key = ("passage", passage_id) if passage_id is not None else ("text", text)
        known = merged.get(key, "")
        merged[key] = known if known and text in known else f"{known} {text}".strip()
    return [
        {"question_id": question_id, "n": n, "text": text, "passage_id": name if kind == "passage" else None}
        for n, ((kind, name), text) in enumerate(merged.items())
    ]


def question_counts(questions: pl.DataFrame, evidence: pl.DataFrame, given: int) -> dict[str, int]:
    """The counts that every loader reports; `given` is the number of evidence entries before equal ones were joined."""
    return {
        "questions": questions.height,
        "questions_without_answer": questions["answer"].null_count(),
        "questions_without_evidence": questions.join(evidence, on="question_id", how="anti").height,
        "evidence": evidence.height,
        "evidence_repeated": given - evidence.height,
        "evidence_unresolved": evidence["passage_id"].null_count(),
    }
