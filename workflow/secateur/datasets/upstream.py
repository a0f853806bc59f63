"""The form that STEM and GraphRAG-Bench share: corpora as named texts, questions as a list of objects."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.problems import Problems
from secateur.datasets.reading import read_records, unique_ids
from secateur.datasets.schema import (
    Questions,
    evidence_frame,
    evidence_rows,
    question_counts,
    questions_frame,
    split_of,
)

__all__ = ["CORPUS_FIELDS", "Question", "build_questions", "check_groups", "read_questions"]

CORPUS_FIELDS = {"corpus_name": (str,), "context": (str,)}
QUESTION_FIELDS = {
    "id": (str,),
    "source": (str,),
    "question": (str,),
    "answer": (str, type(None)),
    "question_type": (str, type(None)),
    "evidence": (str, list, type(None)),
}
Question = dict[str, Any]
Pair = tuple[str, str | None]  # evidence text, id of the passage it resolves to


def read_questions(path: Path, repeats: frozenset[str] = frozenset()) -> list[Question]:
    """The questions of one file, their ids unique, their place in it under `position`.

    Raises SecateurError for another form, an empty question and a repeated id that is not in `repeats`.
    """
    records = read_records(path, QUESTION_FIELDS)
    problems = Problems(path, "correct the question, or fetch the file again")
    for n, record in enumerate(records):
        if not record["question"].strip():
            problems.add(f"object {n} ({record['id']})", "question is empty")
        texts = record.get("evidence")
        if isinstance(texts, list) and not all(isinstance(text, str) for text in texts):
            problems.add(f"object {n} ({record['id']})", "evidence must be a list of texts")
    problems.stop()
    ids = unique_ids(path, [record["id"] for record in records], repeats)
    return [record | {"id": name, "position": n} for n, (name, record) in enumerate(zip(ids, records, strict=True))]


def check_groups(path: Path, questions: Iterable[Question], passages: pl.DataFrame) -> None:
    """Raise a SecateurError for questions about a source that has no passages."""
    known = set(passages["group_id"])
    strangers = [q for q in questions if q["source"] not in known]
    if strangers:
        sources = ", ".join(sorted({q["source"] for q in strangers}))
        raise SecateurError(
            f"{path}: {len(strangers)} questions (e.g. {strangers[0]['id']}) about {sources}, "
            f"which the corpus does not hold (it holds {', '.join(sorted(known))}). Fix: name the corpus they belong to"
        )


def build_questions(
    dataset: str,
    questions: list[Question],
    found: Mapping[str, list[Pair]],
    cluster_of: Callable[[Question], str],
) -> Questions:
    """Frames of questions and of the evidence found for each question id."""
    rows = [
        {
            "question_id": q["id"],
            "group_id": q["source"],
            "cluster_id": cluster_of(q),
            "position": q["position"],
            "text": q["question"],
            "answer": q.get("answer"),
            "type": q.get("question_type"),
            "split": split_of(dataset, q["id"]),
        }
        for q in questions
    ]
    evidence = [row for q in questions for row in evidence_rows(q["id"], found[q["id"]])]
    frames = questions_frame(rows), evidence_frame(evidence)
    given = sum(len(found[q["id"]]) for q in questions)
    return Questions(*frames, question_counts(*frames, given))
