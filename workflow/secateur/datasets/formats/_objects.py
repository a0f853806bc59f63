"""Passages and questions from objects with the keys of a folder of one's own (docs/data.md)."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from secateur.core.errors import nearest
from secateur.datasets.containment import quotable_groups
from secateur.datasets.problems import Problems
from secateur.datasets.reading import TEXT, Forms
from secateur.datasets.schema import (
    Asked,
    Corpus,
    Questions,
    evidence_frame,
    evidence_rows,
    passages_frame,
    question_counts,
    questions_frame,
    split_of,
)

__all__ = ["PASSAGE", "QUESTION", "Objects", "corpus_of", "questions_of"]

Objects = Sequence[tuple[str, dict[str, Any]]]  # (where it stands in its file, a well-formed object)

TEXT_OR_NULL = ("a text that is not empty, or null", lambda v: v is None or TEXT[1](v))
TEXTS = ("a list of texts, or null", lambda v: v is None or (isinstance(v, list) and all(map(TEXT[1], v))))
GRADES = (
    "a list of whole numbers from 0 to 999999999, or null",
    lambda v: v is None or (isinstance(v, list) and all(type(one) is int and 0 <= one < 10**9 for one in v)),
)
SPLIT = ("train, dev, test or null", lambda v: v in (None, "train", "dev", "test"))
ANSWER = (
    "a text, a number or null",
    # By type, not isinstance: True is an int to Python, but no answer.
    lambda v: v is None or type(v) in (str, int) or (type(v) is float and math.isfinite(v)),
)
PASSAGE: Forms = {
    "id": TEXT,
    "text": TEXT,
    "doc": TEXT_OR_NULL,
    "title": TEXT_OR_NULL,
    "group": TEXT_OR_NULL,
    "session": TEXT_OR_NULL,
    "speaker": TEXT_OR_NULL,
    "date": TEXT_OR_NULL,
}
QUESTION: Forms = {
    "id": TEXT,
    "question": TEXT,
    "answer": ANSWER,
    "group": TEXT_OR_NULL,
    "type": TEXT_OR_NULL,
    "evidence": TEXTS,
    "evidence_text": TEXTS,
    "hops": TEXTS,
    "grades": GRADES,
    "split": SPLIT,
}
GROUP = "all"  # where no group is given


def corpus_of(objects: Objects, problems: Problems) -> Corpus:
    """The passages; their position is their place among the objects of their document.

    Raises SecateurError with all problems, those noted before among them.
    """
    rows: list[dict[str, Any]] = []
    length: dict[str, int] = {}
    group_of: dict[str, tuple[str, str]] = {}
    for where, passage in objects:
        group = passage.get("group") or GROUP
        doc = passage.get("doc") or group
        known, first = group_of.setdefault(doc, (group, where))
        if known != group:
            problems.add(where, f"doc {doc!r} is in group {group!r} here and in {known!r} in {first}")
        rows.append(
            {
                "passage_id": passage["id"],
                "doc_id": doc,
                "title": passage.get("title"),
                "group_id": group,
                "session_id": passage.get("session"),
                "position": length.setdefault(doc, 0),
                "text": passage["text"],
                "speaker": passage.get("speaker"),
                "date": passage.get("date"),
            }
        )
        length[doc] += 1
    problems.stop()
    return Corpus(passages_frame(rows), {"passages": len(rows), "documents": len(length)})


def questions_of(asked: Asked, objects: Objects, passages: pl.DataFrame, problems: Problems) -> Questions:
    """The questions and their evidence, resampled by group, or by the document of the first resolved evidence.

    What is graded 0 is no evidence. An evidence id that is no passage of the question's group is kept as text and counted.
    Raises SecateurError with all problems, those noted before among them.
    """
    groups = set(passages["group_id"])
    for where, question in objects:
        if (group := question.get("group") or GROUP) not in groups:
            problems.add(where, f"group {group!r} has no passages{nearest(group, groups)}")
        named = question.get("evidence") or []
        for key in ("hops", "grades"):
            if (own := question.get(key)) and len(own) != len(named):
                problems.add(where, f"{key} has {len(own)} entries, evidence {len(named)}: one for each is needed")
    problems.stop()

    found = _evidence([question for _, question in objects], passages)
    documents = dict(passages.select("passage_id", "doc_id").iter_rows())
    rows = []
    for position, (_, question) in enumerate(objects):
        name, group = question["id"], question.get("group") or GROUP
        document = next((documents[holder] for _, holder in found[name] if holder), name)
        rows.append(
            {
                "question_id": name,
                "group_id": group,
                "cluster_id": group if asked.cluster == "group" else document,
                "position": position,
                "text": question["question"],
                "answer": None if question.get("answer") is None else str(question["answer"]),
                "type": question.get("type"),
                "split": question.get("split") or split_of(asked.dataset, name),
            }
        )
    hops = {q["id"]: dict(zip(q.get("evidence") or [], q.get("hops") or [], strict=False)) for _, q in objects}
    graded = {q["id"]: sorted(_named(q), key=lambda one: one[1] or 0) for _, q in objects}
    best = {name: dict(own) for name, own in graded.items()}  # of one that is named twice the higher grade
    evidence = [
        row | {"hop": hops[name].get(row["passage_id"]), "grade": best[name].get(row["passage_id"])}
        for name, pairs in found.items()
        for row in evidence_rows(name, pairs)
    ]
    frames = questions_frame(rows), evidence_frame(evidence)
    return Questions(*frames, question_counts(*frames, sum(map(len, found.values()))))


def _named(question: dict[str, Any]) -> list[tuple[str, int | None]]:
    """Passages named as evidence with their grades, None where none are given; without those graded 0."""
    named = question.get("evidence") or []
    grades = question.get("grades") or [None] * len(named)
    return [(name, grade) for name, grade in zip(named, grades, strict=True) if grade != 0]


def _evidence(questions: list[dict[str, Any]], passages: pl.DataFrame) -> dict[str, list[tuple[str, str | None]]]:
    """Question id -> (text, passage id or None): first the passages named by id, then the texts quoted."""
    quotable = quotable_groups(passages)
    text_of = {
        (group, name): text for group, name, text in passages.select("group_id", "passage_id", "text").iter_rows()
    }
    found = {}
    for question in questions:
        group = question.get("group") or GROUP
        named = [(group, name) for name, _ in _named(question)]
        by_id = [(text_of[key], key[1]) if key in text_of else (key[1], None) for key in named]
        quoted = [(text, quotable[group].only_holder(text)) for text in question.get("evidence_text") or []]
        found[question["id"]] = by_id + quoted
    return found
