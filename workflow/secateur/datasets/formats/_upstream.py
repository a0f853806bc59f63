"""The format that STEM and GraphRAG-Bench share: corpora as named texts, questions as a list of objects."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from secateur.datasets.reading import STRING, STRING_OR_NULL, Forms, Problems, of_type, read_records, unique_ids
from secateur.datasets.schema import Pair, Questions, build_questions, evidence_rows

__all__ = ["CORPUS", "Question", "questions_of", "read_questions"]

CORPUS: Forms = {"corpus_name": STRING, "context": STRING}
QUESTION: Forms = {
    "id": STRING,
    "source": STRING,
    "question": STRING,
    "answer": STRING_OR_NULL,
    "question_type": STRING_OR_NULL,
    "evidence": of_type(str, list, type(None)),
}
Question = dict[str, Any]


def read_questions(path: Path, repeats: frozenset[str] = frozenset()) -> list[Question]:
    """The questions of a file with unique ids, each with its place in the file as `position`.

    Raises SecateurError for another form, an empty question, and a repeated id that is not in `repeats`.
    """
    records = read_records(path, QUESTION)
    problems = Problems(path, "correct the question, or fetch the file again")
    for n, record in enumerate(records):
        where, texts = f"object {n} ({record['id']})", record.get("evidence")
        if not record["question"].strip():
            problems.add(where, "question is empty")
        if isinstance(texts, list) and not all(isinstance(text, str) for text in texts):
            problems.add(where, "evidence must be a list of texts")
    problems.stop()
    ids = unique_ids(path, [record["id"] for record in records], repeats)
    return [record | {"id": name, "position": n} for n, (name, record) in enumerate(zip(ids, records, strict=True))]


def questions_of(
    dataset: str,
    questions: list[Question],
    pairs_of: Mapping[str, list[Pair]],
    cluster_of: Callable[[Question], str],
    **counts: int,
) -> Questions:
    """Questions from objects, the evidence of each question id, and the unit that a question is resampled by."""
    rows = [
        {
            "question_id": q["id"],
            "group_id": q["source"],
            "cluster_id": cluster_of(q),
            "position": q["position"],
            "text": q["question"],
            "answer": q.get("answer"),
            "type": q.get("question_type"),
        }
        for q in questions
    ]
    evidence = [row for q in questions for row in evidence_rows(q["id"], pairs_of[q["id"]])]
    return build_questions(dataset, rows, evidence, sum(len(pairs_of[q["id"]]) for q in questions), **counts)
