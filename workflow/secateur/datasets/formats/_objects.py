"""Passages and questions from objects with the keys of your own data (docs/data.md)."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from secateur.core.errors import nearest
from secateur.datasets.containment import quotable_groups
from secateur.datasets.conversations import joined
from secateur.datasets.reading import TEXT, Forms, Problems
from secateur.datasets.schema import (
    DRAFTED,
    Corpus,
    Questions,
    Request,
    build_questions,
    evidence_rows,
    own_cluster,
    passages_frame,
)

__all__ = ["PASSAGE", "QUESTION", "Objects", "corpus_of", "questions_of"]

Objects = Sequence[tuple[str, dict[str, Any]]]  # (place in its file, a valid object)

TEXT_OR_NULL = ("a text that is not empty, or null", lambda value: value is None or TEXT[1](value))
TEXTS = (
    "a list of texts, or null",
    lambda value: value is None or (isinstance(value, list) and all(map(TEXT[1], value))),
)
GRADES = (
    "a list of whole numbers from 0 to 999999999, or null",
    lambda value: (
        value is None or (isinstance(value, list) and all(type(grade) is int and 0 <= grade < 10**9 for grade in value))
    ),
)
SPLIT = ("train, dev, test or null", lambda value: value in (None, "train", "dev", "test"))


def _is_answer(value: Any) -> bool:
    # By type, not isinstance: True is an int to Python, but no answer.
    return type(value) in (str, int) or (type(value) is float and math.isfinite(value))


ANSWERS = (
    "a list of texts or numbers, or null",
    lambda value: value is None or (isinstance(value, list) and all(map(_is_answer, value))),
)
ANSWER = ("a text, a number, a list of these, or null", lambda value: _is_answer(value) or ANSWERS[1](value))
PASSAGE: Forms = {
    "id": TEXT,
    "text": TEXT,
    **dict.fromkeys(("doc", "title", "group", "session", "speaker", "date"), TEXT_OR_NULL),
}
QUESTION: Forms = {
    "id": TEXT,
    "question": TEXT,
    "answer": ANSWER,
    "answer_aliases": ANSWERS,
    "group": TEXT_OR_NULL,
    "type": TEXT_OR_NULL,
    "evidence": TEXTS,
    "evidence_text": TEXTS,
    "hops": TEXTS,
    "grades": GRADES,
    "split": SPLIT,
}
GROUP = "all"  # of objects without a group
TAKEN = {"all", "cat1-4"}  # parts of the questions, which tables name beside hops


def corpus_of(objects: Objects, problems: Problems) -> Corpus:
    """The passages; a passage's position is its place among the objects of its document or conversation.

    Raises SecateurError with all problems, those noted before included.
    """
    rows: list[dict[str, Any]] = []
    length: dict[str, int] = {}
    group_of: dict[str, tuple[str, str]] = {}
    for where, passage in objects:
        group = passage.get("group") or GROUP
        doc = passage.get("doc") or group
        first_group, first = group_of.setdefault(doc, (group, where))
        if first_group != group:
            problems.add(where, f"doc {doc!r} is in group {group!r} here and in {first_group!r} in {first}")
        rows.append(
            {
                "passage_id": passage["id"],
                "doc_id": doc,
                "group_id": group,
                "session_id": passage.get("session"),
                "position": length.setdefault(doc, 0),
                **{key: passage.get(key) for key in ("title", "text", "speaker", "date")},
            }
        )
        length[doc] += 1
    problems.stop()
    counts = {"passages": len(rows), "documents": len(length)}
    as_filed = passages_frame(rows)
    passages = joined(as_filed)
    for name, groups in passages.group_by("doc_id", maintain_order=True).agg(pl.col("group_id").unique()).iter_rows():
        if len(groups) > 1:  # a conversation is a document of its group's name
            problems.add("passages", f"doc {name!r} has the name of a conversation, group {name!r}: another is needed")
    problems.stop()
    sessions = len(length) - passages["doc_id"].n_unique()
    of_group = [dict(frame.group_by("group_id").agg("passage_id").iter_rows()) for frame in (as_filed, passages)]
    by_date = sum(of_group[1][group] != order for group, order in of_group[0].items())
    reported = {"documents_read_as_sessions": sessions, "conversations_not_read_as_in_the_file": by_date}
    return Corpus(passages, counts | {name: count for name, count in reported.items() if count})


def questions_of(request: Request, objects: Objects, passages: pl.DataFrame, problems: Problems) -> Questions:
    """The questions and their evidence, resampled by group or by the document of the first resolved evidence.

    Evidence graded 0 is dropped, and so is an id that is no passage of the question's group: it is counted as unresolved.
    Raises SecateurError with all problems, those noted before included.
    """
    groups = set(passages["group_id"])
    for where, question in objects:
        if (group := question.get("group") or GROUP) not in groups:
            problems.add(where, f"group {group!r} has no passages{nearest(group, groups)}")
        named = question.get("evidence") or []
        for key in ("hops", "grades"):
            if (labels := question.get(key)) and len(labels) != len(named):
                problems.add(where, f"{key} has {len(labels)} entries, evidence {len(named)}: one for each is needed")
        for name in sorted(TAKEN.intersection(question.get("hops") or ())):
            problems.add(where, f"hop {name!r} is the name of a part of the questions: another is needed")
    problems.stop()

    asked = [entry for entry in objects if entry[1].get("type") not in DRAFTED]
    left_out = {"drafted_left_out": len(objects) - len(asked)} if 0 < len(asked) < len(objects) else {}
    used = asked or objects
    quotable = quotable_groups(passages)
    columns = passages.select("group_id", "passage_id", "text", "doc_id")
    passage_of = {(group, name): (text, document) for group, name, text, document in columns.iter_rows()}
    documents = {document for _, document in passage_of.values()}
    rows, evidence, entries, unknown = [], [], 0, 0
    for _, question in used:
        name, group, answers = question["id"], question.get("group") or GROUP, _answers(question)
        named, graded = question.get("evidence") or [], _graded(question)
        pairs = [(passage_of[group, p][0], p) for p, _ in graded if (group, p) in passage_of]
        unknown += len(graded) - len(pairs)
        pairs += [(text, quotable[group].only_holder(text)) for text in question.get("evidence_text") or []]
        entries += len(pairs)
        document = next(
            (passage_of[group, passage][1] for _, passage in pairs if passage), own_cluster(name, documents)
        )
        rows.append(
            {
                "question_id": name,
                "group_id": group,
                "cluster_id": group if request.cluster == "group" else document,
                "text": question["question"],
                "answer": answers[0] if answers else None,
                "aliases": answers[1:],
                "type": question.get("type"),
                "split": question.get("split"),
            }
        )
        hops: dict[str, str | None] = {}  # the first of a passage
        for passage, hop, grade in zip(named, *_labels(question, "hops", "grades"), strict=True):
            if grade != 0:
                hops.setdefault(passage, hop)
        grades = dict(sorted(graded, key=lambda pair: pair[1] or 0))  # the highest of a passage named twice
        evidence += [
            row | {"hop": hops.get(row["passage_id"]), "grade": grades.get(row["passage_id"])}
            for row in evidence_rows(name, pairs)
        ]
    return build_questions(request.dataset, rows, evidence, entries, unknown, **left_out)


def _answers(question: dict[str, Any]) -> list[str]:
    """The gold answers as texts, the first being the one that models read."""
    answer = question.get("answer")
    several = answer if isinstance(answer, list) else [] if answer is None else [answer]
    return [_written(value) for value in [*several, *(question.get("answer_aliases") or [])]]


def _written(value: str | float) -> str:
    """An answer as it is written: 1945 for the number 1945.0, which tables make of a column with a gap.

    >>> _written(1945.0), _written(2.5), _written("1945.0")
    ('1945', '2.5', '1945.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _graded(question: dict[str, Any]) -> list[tuple[str, int | None]]:
    """(passage id, grade or None) of the evidence, without what is graded 0."""
    pairs = zip(question.get("evidence") or [], *_labels(question, "grades"), strict=True)
    return [(name, grade) for name, grade in pairs if grade != 0]


def _labels(question: dict[str, Any], *keys: str) -> list[list[Any]]:
    """For each key a label of each evidence id, None where the question has no such labels."""
    return [question.get(key) or [None] * len(question.get("evidence") or []) for key in keys]
