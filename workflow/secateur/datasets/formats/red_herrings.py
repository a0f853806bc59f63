"""Red herrings: questions with passages that are correct, counterfactual or irrelevant (ECS, sections 1, 3.1)."""

from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.datasets.reading import STRING, Forms, Problems, form_problems, json_lines
from secateur.datasets.schema import Corpus, Files, Questions, Request, build_questions, evidence_rows, passages_frame

CORPUS_FILES, QUESTION_FILES = ("herrings",), ("herrings",)
LABELLED = True  # the title of a passage is its label

KINDS = ("correct", "counterfactual", "irrelevant")  # labels of passages
STRINGS = ("id", "domain", "type", "question", "answer")
PASSAGES = (
    "a list of passages",
    lambda value: isinstance(value, list) and value and all(isinstance(text, str) and text.strip() for text in value),
)
QUESTION: Forms = dict.fromkeys(STRINGS, STRING) | dict.fromkeys(KINDS, PASSAGES)


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The passages; a question is a group, its passages of one label are a document with the label as title.

    Neither the title nor the id of a passage ever reaches a model.
    Raises SecateurError with all problems of the file, each with its line.
    """
    rows = [
        {
            "passage_id": f"{question['id']}:{label}:{n}",
            "doc_id": f"{question['id']}:{label}",
            "title": label,
            "group_id": question["id"],
            "position": n,
            "text": text,
        }
        for question in _read(files["herrings"])
        for label in KINDS
        for n, text in enumerate(question[label])
    ]
    return Corpus(passages_frame(rows), {"passages": len(rows)})


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with their correct passages as evidence, resampled one by one.

    Raises SecateurError with all problems of the file, each with its line.
    """
    rows, evidence = [], []
    for question in _read(files["herrings"]):
        name = question["id"]
        columns = {key: question[key] for key in ("answer", "type")}
        rows.append({"question_id": name, "group_id": name, "cluster_id": name, "text": question["question"]} | columns)
        evidence += evidence_rows(name, [(text, f"{name}:correct:{n}") for n, text in enumerate(question["correct"])])
    return build_questions(request.dataset, rows, evidence)


def _read(path: Path) -> list[dict[str, Any]]:
    """The questions of a file, checked; ids and passages are unique in it."""
    problems = Problems(
        path, f"one JSON object a line with the texts {', '.join(STRINGS)} and lists {', '.join(KINDS)}"
    )
    questions, seen = [], set()
    for where, question in json_lines(path, problems):
        clauses = form_problems(question, QUESTION)
        if not clauses:
            clauses = [f"{key} is blank" for key in STRINGS if not question[key].strip()]
        if not clauses:
            for text in (question["id"], *(text for label in KINDS for text in question[label])):
                clauses += [f"{text!r:.80} stands twice"] * (text in seen)
                seen.add(text)
        problems.add(where, *clauses)
        questions += [] if clauses else [question]
    if not questions and not problems.clauses:
        problems.add("the file", "is empty")
    problems.stop()
    return questions
