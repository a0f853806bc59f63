"""A folder in the form of BEIR: corpus.jsonl, queries.jsonl and qrels/*.tsv; a document is a passage."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.problems import Problems
from secateur.datasets.reading import TEXT, Forms, read_text, well_formed
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

__all__ = ["CORPUS_FILES", "FOLDER", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("folder",), ("folder", ...)
FOLDER = {"corpus": ("corpus.jsonl",), "questions": ("queries.jsonl", "qrels/*.tsv")}  # what stands in it
ANY = ("a text", lambda v: isinstance(v, str))
OR_NULL = ("a text or null", lambda v: v is None or isinstance(v, str))
DOCUMENT: Forms = {"_id": TEXT, "text": ANY, "title": OR_NULL}
QUERY: Forms = {"_id": TEXT, "text": TEXT}
GROUP = "all"
GRADE = r"-?[0-9]{1,9}"  # what a column of whole numbers can hold
SPLITS = ("train", "dev", "test")  # names of qrels; of any other name a question's split is drawn


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The documents, a passage each; those without words are left out and counted.

    Raises SecateurError with all problems of the file, each with its line.
    """
    rows, empty = [], 0
    for document in _lines(
        _file(files["folder"], "corpus.jsonl"), DOCUMENT, "_id and text, title too where it has one"
    ):
        text = document["text"].strip() or (document.get("title") or "").strip()
        empty += not text
        if text:
            name = document["_id"]
            own = {"passage_id": name, "doc_id": name, "group_id": GROUP, "position": 0}
            rows.append(own | {"title": (document.get("title") or "").strip() or None, "text": text})
    return Corpus(passages_frame(rows), {"passages": len(rows), "documents": len(rows), "documents_empty": empty})


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The queries that have a judgement above 0, with the documents judged so as evidence, each with its grade.

    Raises SecateurError with all problems of a file, and where no query is judged.
    """
    folder = files["folder"]
    judged: dict[str, dict[str, int]] = {}
    splits: dict[str, str] = {}
    for path in (files[name] for name in files if name != "folder"):
        for query, document, grade in _judgements(path):
            grades = judged.setdefault(query, {})
            grades[document] = max(grade, grades.get(document, 0))
            if (name := path.name.partition(".")[0]) in SPLITS:
                splits.setdefault(query, name)
    known, rows, evidence = set(passages["passage_id"]), [], []
    for query in _lines(_file(folder, "queries.jsonl"), QUERY, "_id and text"):
        name = query["_id"]
        if name not in judged:
            continue
        gold = judged[name]
        rows.append(
            {
                "question_id": name,
                "group_id": GROUP,
                "cluster_id": next((one for one in gold if one in known), name),
                "position": len(rows),
                "text": query["text"],
                "split": splits.get(name) or split_of(asked.dataset, name),
            }
        )
        rows_of = evidence_rows(name, [(one, one if one in known else None) for one in gold])
        evidence += [row | {"grade": grade} for row, grade in zip(rows_of, gold.values(), strict=True)]
    if not rows:
        raise SecateurError(
            f"{folder}: no query of queries.jsonl is judged above 0 in qrels/*.tsv. Fix: correct the ids"
        )
    texts = dict(passages.select("passage_id", "text").iter_rows())
    evidence = [row | {"text": texts.get(row["passage_id"] or "", row["text"])} for row in evidence]
    frames = questions_frame(rows), evidence_frame(evidence)
    return Questions(*frames, question_counts(*frames, len(evidence)))


def _file(folder: Path, name: str) -> Path:
    """A file of the folder, plain or gzipped."""
    path = folder / name
    return path if path.exists() or not path.with_name(f"{name}.gz").exists() else path.with_name(f"{name}.gz")


def _lines(path: Path, forms: Forms, required: str) -> list[dict[str, Any]]:
    """The objects of a file. Raises SecateurError with all that is wrong."""
    problems = Problems(path, f"one JSON object a line with {required}")
    found = well_formed(path, forms, problems, "_id", others=True)
    problems.stop()
    return [value for _, value in found]


def _judgements(path: Path) -> list[tuple[str, str, int]]:
    """(query, document, grade) of every judgement above 0. Raises SecateurError for a line of another form."""
    problems, found = Problems(path, "lines of query-id, corpus-id and score, with tabs between them"), []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        parts = line.split("\t")
        if not line.strip() or (number == 1 and parts[-1].strip() == "score"):
            continue
        if len(parts) != 3 or not re.fullmatch(GRADE, parts[2].strip()):
            problems.add(
                f"line {number}",
                f"{line[:60]!r} is not three columns with a whole number (nine digits at most) at the end",
            )
        elif int(parts[2]) > 0:
            found.append((parts[0].strip(), parts[1].strip(), int(parts[2])))
    problems.stop()
    return found
