"""Red herrings: questions with passages that are correct, counterfactual, or irrelevant (ECS, sections 1, 3.1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import nearest
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, parse_json, read_text
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

__all__ = ["CORPUS_FILES", "KINDS", "LABELLED", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("herrings",), ("herrings",)
LABELLED = True  # the title of a passage says of what kind it is

KINDS = ("correct", "counterfactual", "irrelevant")
TEXTS = ("id", "domain", "type", "question", "answer")


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The passages; each question is a group, its passages of one kind are a document, titled by the kind.

    Neither the title nor the id of a passage ever reaches a model.
    Raises SecateurError with all problems of the file, each with its line.
    """
    rows = [
        {
            "passage_id": f"{one['id']}:{kind}:{n}",
            "doc_id": f"{one['id']}:{kind}",
            "title": kind,
            "group_id": one["id"],
            "position": n,
            "text": text,
        }
        for one in _read(files["herrings"])
        for kind in KINDS
        for n, text in enumerate(one[kind])
    ]
    return Corpus(passages_frame(rows), {"passages": len(rows)})


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with their correct passages as evidence; each is its own unit of resampling.

    Raises SecateurError with all problems of the file, each with its line.
    """
    given = _read(files["herrings"])
    rows = [
        {
            "question_id": one["id"],
            "group_id": one["id"],
            "cluster_id": one["id"],
            "position": position,
            "text": one["question"],
            "answer": one["answer"],
            "type": one["type"],
            "split": split_of(asked.dataset, one["id"]),
        }
        for position, one in enumerate(given)
    ]
    evidence = [
        row
        for one in given
        for row in evidence_rows(one["id"], [(t, f"{one['id']}:correct:{n}") for n, t in enumerate(one["correct"])])
    ]
    frames = questions_frame(rows), evidence_frame(evidence)
    return Questions(*frames, question_counts(*frames, len(evidence)))


def _read(path: Path) -> list[dict[str, Any]]:
    """The questions of the file, each with all that it needs; no id and no passage stands twice."""
    problems = Problems(path, f"one JSON object a line with the texts {', '.join(TEXTS)} and lists {', '.join(KINDS)}")
    found, seen = [], set()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            one = parse_json(line)
            wrong = _wrong(one)
        except ValueError as error:
            wrong = [f"malformed JSON: {error}"]
        for text in [] if wrong else [one["id"], *(text for kind in KINDS for text in one[kind])]:
            wrong += [f"{text!r:.80} stands twice"] if text in seen else []
            seen.add(text)
        for clause in wrong:
            problems.add(f"line {number}", clause)
        found += [] if wrong else [one]
    if not found and not problems.found:
        problems.add("the file", "is empty")
    problems.stop()
    return found


def _wrong(one: Any) -> list[str]:
    """What is missing, unknown, of another type or blank, each in a clause."""
    wrong = check_fields(one, dict.fromkeys(TEXTS, (str,)) | dict.fromkeys(KINDS, (list,)))
    if wrong:
        return wrong
    wrong = [f"unknown key {key!r}{nearest(key, (*TEXTS, *KINDS))}" for key in one if key not in (*TEXTS, *KINDS)]
    wrong += [f"{key} is blank" for key in TEXTS if not one[key].strip()]
    good = {kind: one[kind] and all(isinstance(text, str) and text.strip() for text in one[kind]) for kind in KINDS}
    return wrong + [f"{kind} must hold passages, found {one[kind]!r:.80}" for kind in KINDS if not good[kind]]
