"""A folder in BEIR's format: corpus.jsonl, queries.jsonl and qrels/*.tsv; a document is a passage.

A document with the id of a query is left out of that query's rankings, unless it is judged relevant for it. That is
BEIR's `ignore_identical_ids`, which ArguAna needs: there each query is a document of the corpus.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.datasets.reading import (
    STRING,
    STRING_OR_NULL,
    TEXT,
    Forms,
    Problems,
    json_lines,
    read_text,
    valid_objects,
)
from secateur.datasets.schema import (
    Corpus,
    Files,
    Questions,
    Request,
    build_questions,
    evidence_rows,
    own_cluster,
    passages_frame,
)

CORPUS_FILES, QUESTION_FILES = ("folder",), ("folder", ...)
FOLDER = {"corpus": ("corpus.jsonl",), "questions": ("queries.jsonl", "qrels/*.tsv")}  # files of the folder
DOCUMENT: Forms = {"_id": TEXT, "text": STRING, "title": STRING_OR_NULL}
QUERY: Forms = {"_id": TEXT, "text": TEXT}
GROUP = "all"
GRADE = re.compile(r"(-?[0-9]{1,9})(\.0*)?")  # what a column of whole numbers can hold
HEADS = ("score", "relevance", "relevancy", "rel", "label", "grade", "judgment", "judgement")  # of the grades' column
SPLITS = ("train", "dev", "test")  # names of qrels; under any other name a question's split is drawn


@dataclass(frozen=True)
class Settings:
    """What a query may find."""

    ignore_identical_ids: bool = key(
        "leave a document with the query's id out of its rankings, as BEIR's evaluation does", default=True
    )


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The documents, a passage each; those without words and repeated ones are dropped and counted.

    Raises SecateurError with all problems of the file, each with its line.
    """
    rows, empty = [], 0
    required = "_id and text, title too where it has one"
    documents, repeated = _lines(files["folder"], "corpus.jsonl", DOCUMENT, required)
    for document in documents:
        title, name = (document.get("title") or "").strip(), document["_id"]
        text = document["text"].strip() or title
        if not text:
            empty += 1
            continue
        place = {"passage_id": name, "doc_id": name, "group_id": GROUP, "position": 0}
        rows.append(place | {"title": title or None, "text": text})
    counts = {"documents": len(rows), "documents_empty": empty, "documents_repeated": repeated}
    return Corpus(passages_frame(rows), {"passages": len(rows)} | counts)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The queries with a judgement above 0; the documents of such judgements are evidence, each with its grade.

    Raises SecateurError with all problems of a file, where no query is judged, and where one is in two splits.
    """
    folder = files["folder"]
    queries, repeated = _lines(folder, "queries.jsonl", QUERY, "_id and text")
    texts = dict(passages.select("passage_id", "text").iter_rows())
    query_of, document_of = _resolver(query["_id"] for query in queries), _resolver(texts)
    judged: dict[str, dict[str, int]] = {}
    splits: dict[str, str] = {}
    for path in (files[name] for name in files if name != "folder"):
        for query, document, grade in _judgements(path):
            name = query_of(query)
            grades = judged.setdefault(name, {})
            document = document_of(document)
            grades[document] = max(grade, grades.get(document, 0))
            if (split := path.name.partition(".")[0]) in SPLITS and splits.setdefault(name, split) != split:
                raise SecateurError(
                    f"{path}: query {name!r} is judged in {splits[name]}, too, and gold of both would count. "
                    "Fix: judge a query in one split"
                )
    rows, evidence, unknown = [], [], 0
    for query in queries:
        name = query["_id"]
        if name not in judged:
            continue
        grades = judged[name]
        identical = settings.ignore_identical_ids and name in texts and name not in grades
        rows.append(
            {
                "question_id": name,
                "group_id": GROUP,
                "cluster_id": next((document for document in grades if document in texts), own_cluster(name, texts)),
                "text": query["text"],
                "excluded": name if identical else None,
                "split": splits.get(name),
            }
        )
        graded = {document: grade for document, grade in grades.items() if document in texts}
        unknown += len(grades) - len(graded)
        gold = evidence_rows(name, [(texts[document], document) for document in graded])
        evidence += [row | {"grade": grade} for row, grade in zip(gold, graded.values(), strict=True)]
    if not rows:
        raise SecateurError(
            f"{folder}: no query of queries.jsonl is judged above 0 in qrels/*.tsv. Fix: correct the ids"
        )
    counts = {
        "queries_repeated": repeated,
        "judged_queries_unknown": len(judged.keys() - {query["_id"] for query in queries}),
        "identical_documents_left_out": sum(row["excluded"] is not None for row in rows),
    }
    return build_questions(request.dataset, rows, evidence, unknown=unknown, **counts)


def _lines(folder: Path, name: str, forms: Forms, required: str) -> tuple[list[dict[str, Any]], int]:
    """The objects of a file, plain or gzipped, and the number of equal ones that were dropped.

    A number as id is read as its digits; keys without a form are not judged. Raises SecateurError with all problems.
    """
    path, gzipped = folder / name, folder / f"{name}.gz"
    path = gzipped if gzipped.exists() and not path.exists() else path
    problems = Problems(path, f"one JSON object a line with {required}")
    objects, first, repeated = [], {}, 0
    for where, value in json_lines(path, problems, lenient=True):
        if isinstance(value, dict):
            value = {key: value[key] for key in forms if key in value}
            if type(value.get("_id")) is int:
                value["_id"] = str(value["_id"])
            earlier = first.setdefault(repr(value.get("_id")), value)
            if earlier is not value and earlier == value:
                repeated += 1
                continue
        objects.append((where, value))
    if not objects and not problems.clauses:
        problems.add("the file", "is empty")
    valid = valid_objects(objects, forms, problems, "_id")
    problems.stop()
    return [value for _, value in valid], repeated


def _resolver(names: Iterable[str]) -> Callable[[str], str]:
    """A function from an id in qrels to the id in another file, which may differ in blanks at its ends and in NFC.

    An id that matches none, or several, stays as it is.
    """
    exact, similar = set(names), defaultdict(set)
    for name in exact:
        similar[_bare(name)].add(name)

    def resolve(name: str) -> str:
        near = similar.get(_bare(name), ())
        return next(iter(near)) if name not in exact and len(near) == 1 else name

    return resolve


def _bare(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def _judgements(path: Path) -> list[tuple[str, str, int]]:
    """(query, document, grade) of every judgement above 0. Raises SecateurError for a line of another form.

    A line has three columns, or four as in TREC's qrels, with tabs between them, or blanks where it has no tab.
    """
    problems = Problems(path, "lines of query-id, corpus-id and score, with tabs between them")
    judgements = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        line = line.rstrip("\r")
        columns = line.split("\t") if "\t" in line else re.split("[ ]+", line.strip(" "))
        grade = columns[-1].strip()
        if not line.strip() or (number == 1 and grade.lower() in HEADS):
            continue
        match = GRADE.fullmatch(grade)
        if len(columns) not in (3, 4) or not match:
            problems.add(
                f"line {number}",
                f"{line[:60]!r} is not three columns with a whole number (nine digits at most) at the end",
            )
        elif int(match[1]) > 0:
            judgements.append((columns[0], columns[-2], int(match[1])))
    problems.stop()
    return judgements
