"""The format of STEM and GraphRAG-Bench: corpora as named texts in sentences, questions as a list of objects."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.datasets.containment import quotable_groups
from secateur.datasets.reading import STRING, STRING_OR_NULL, Forms, Problems, of_type, read_records, unique_ids
from secateur.datasets.schema import Pair, Questions, build_questions, check_groups, evidence_rows
from secateur.datasets.sentences import sentences

__all__ = ["CORPUS", "Question", "questions_of", "quoted_evidence", "read_questions", "sentence_rows"]

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


def sentence_rows(document: str, text: str, seen: set[str], **columns: str) -> tuple[list[dict[str, Any]], int]:
    """`passages` rows of the sentences of a document that are not in `seen`, which grows; the number of the others.

    A text in Latin letters has the sentences of the reference rows.
    """
    rows: list[dict[str, Any]] = []
    repeated = 0
    for sentence, start, end in sentences(text, published=True):
        if sentence in seen:
            repeated += 1
            continue
        seen.add(sentence)
        n = len(rows)
        place = {"passage_id": f"{document}:{n}", "doc_id": document, "position": n, "start": start, "end": end}
        rows.append(place | columns | {"text": sentence})
    return rows, repeated


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


def quoted_evidence(path: Path, questions: list[Question], passages: pl.DataFrame) -> dict[str, list[Pair]]:
    """Question id to its evidence, a list of texts or a string of parts joined by "; ", with the passages quoted.

    Raises SecateurError for questions about a text without passages.
    """
    check_groups(path, {q["id"]: q["source"] for q in questions}, passages)
    quotable = quotable_groups(passages)
    pairs_of: dict[str, list[Pair]] = {}
    for q in questions:
        evidence = q.get("evidence") or []
        texts = [text.strip() for text in (evidence.split("; ") if isinstance(evidence, str) else evidence)]
        pairs_of[q["id"]] = [(text, quotable[q["source"]].only_holder(text)) for text in texts if text]
    return pairs_of


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
