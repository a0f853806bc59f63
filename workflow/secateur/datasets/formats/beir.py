"""A folder in BEIR's format: corpus.jsonl, queries.jsonl and qrels/*.tsv; a document is a passage."""

import re
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.reading import STRING, STRING_OR_NULL, TEXT, Forms, Problems, read_lines, read_text
from secateur.datasets.schema import Corpus, Files, Questions, Request, build_questions, evidence_rows, passages_frame

CORPUS_FILES, QUESTION_FILES = ("folder",), ("folder", ...)
FOLDER = {"corpus": ("corpus.jsonl",), "questions": ("queries.jsonl", "qrels/*.tsv")}  # files of the folder
DOCUMENT: Forms = {"_id": TEXT, "text": STRING, "title": STRING_OR_NULL}
QUERY: Forms = {"_id": TEXT, "text": TEXT}
GROUP = "all"
GRADE = r"-?[0-9]{1,9}"  # what a column of whole numbers can hold
SPLITS = ("train", "dev", "test")  # names of qrels; under any other name a question's split is drawn


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The documents, a passage each; those without words are dropped and counted.

    Raises SecateurError with all problems of the file, each with its line.
    """
    rows, empty = [], 0
    for document in _lines(files["folder"], "corpus.jsonl", DOCUMENT, "_id and text, title too where it has one"):
        title, name = (document.get("title") or "").strip(), document["_id"]
        text = document["text"].strip() or title
        if not text:
            empty += 1
            continue
        place = {"passage_id": name, "doc_id": name, "group_id": GROUP, "position": 0}
        rows.append(place | {"title": title or None, "text": text})
    return Corpus(passages_frame(rows), {"passages": len(rows), "documents": len(rows), "documents_empty": empty})


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The queries with a judgement above 0; the documents of such judgements are evidence, each with its grade.

    Raises SecateurError with all problems of a file, and where no query is judged.
    """
    folder = files["folder"]
    judged: dict[str, dict[str, int]] = {}
    splits: dict[str, str] = {}
    for path in (files[name] for name in files if name != "folder"):
        for query, document, grade in _judgements(path):
            grades = judged.setdefault(query, {})
            grades[document] = max(grade, grades.get(document, 0))
            if (split := path.name.partition(".")[0]) in SPLITS:
                splits.setdefault(query, split)
    texts, rows, evidence = dict(passages.select("passage_id", "text").iter_rows()), [], []
    for query in _lines(folder, "queries.jsonl", QUERY, "_id and text"):
        name = query["_id"]
        if name not in judged:
            continue
        grades = judged[name]
        rows.append(
            {
                "question_id": name,
                "group_id": GROUP,
                "cluster_id": next((document for document in grades if document in texts), name),
                "text": query["text"],
                "split": splits.get(name),
            }
        )
        pairs = [(texts.get(document, document), document if document in texts else None) for document in grades]
        gold = evidence_rows(name, pairs)
        evidence += [row | {"grade": grade} for row, grade in zip(gold, grades.values(), strict=True)]
    if not rows:
        raise SecateurError(
            f"{folder}: no query of queries.jsonl is judged above 0 in qrels/*.tsv. Fix: correct the ids"
        )
    return build_questions(request.dataset, rows, evidence)


def _lines(folder: Path, name: str, forms: Forms, required: str) -> list[dict[str, Any]]:
    """The objects of a file, plain or gzipped. Raises SecateurError with all its problems."""
    path, gzipped = folder / name, folder / f"{name}.gz"
    path = gzipped if gzipped.exists() and not path.exists() else path
    problems = Problems(path, f"one JSON object a line with {required}")
    objects = read_lines(path, forms, problems, "_id", extra=True)
    problems.stop()
    return [document for _, document in objects]


def _judgements(path: Path) -> list[tuple[str, str, int]]:
    """(query, document, grade) of every judgement above 0. Raises SecateurError for a line of another form."""
    problems = Problems(path, "lines of query-id, corpus-id and score, with tabs between them")
    judgements = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        parts = [part.strip() for part in line.split("\t")]
        if not line.strip() or (number == 1 and parts[-1] == "score"):
            continue
        if len(parts) != 3 or not re.fullmatch(GRADE, parts[2]):
            problems.add(
                f"line {number}",
                f"{line[:60]!r} is not three columns with a whole number (nine digits at most) at the end",
            )
        elif int(parts[2]) > 0:
            judgements.append((parts[0], parts[1], int(parts[2])))
    problems.stop()
    return judgements
