"""MuSiQue: the paragraphs of all its questions in one pool; gold by paragraph, narrowed to the sentence with the answer.

Files are the official ones (JSON lines), samples as JSON lists, and corpora of distractors, [{title, text}]. The gold
sentence of a step is the first of its paragraph that says the step's answer, word for word; the whole paragraph where
none does. A step that quotes the answer of another (#1) is `later`, the others are `first`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.datasets.containment import normalised
from secateur.datasets.formats._pool import (
    Asking,
    Gold,
    Paragraph,
    Settings,
    corpus_of,
    questions_of,
    read_objects,
    split_text,
)
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, unique_ids
from secateur.datasets.schema import Asked, Corpus, Questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("pool", ...), ("questions", ...)
QUESTION = {
    "id": (str,),
    "question": (str,),
    "answer": (str,),
    "paragraphs": (list,),
    "question_decomposition": (list,),
}
PARAGRAPH = {"idx": (int,), "title": (str,), "paragraph_text": (str,)}
STEP = {"question": (str,), "answer": (str,), "paragraph_support_idx": (int, type(None))}
ARTICLE = {"title": (str,), "text": (str,)}
REFERS = re.compile(r"#\d")


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The pool of all files. Raises SecateurError for files of another form."""
    return corpus_of(_paragraphs(files), settings)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with the sentences of their steps. Raises SecateurError for files of another form, repeated ids."""
    return questions_of(asked, list(_questions(files)), passages, settings)


def _paragraphs(files: Mapping[str, Path]) -> Iterator[Paragraph]:
    """The paragraphs of questions and of corpora."""
    for path in files.values():
        for record in _records(path, (QUESTION, ARTICLE)):
            if "paragraphs" in record:
                yield from (_paragraph(one, record["id"]) for one in record["paragraphs"])
            else:
                yield Paragraph(record["title"], split_text(record["text"]))


def _paragraph(one: Mapping[str, Any], question: str) -> Paragraph:
    return Paragraph(one["title"], split_text(one["paragraph_text"]), question)


def _questions(files: Mapping[str, Path]) -> Iterator[Asking]:
    """The questions of all files, each id once."""
    records = [record for path in files.values() for record in _records(path, (QUESTION,))]
    unique_ids(next(iter(files.values())), [record["id"] for record in records])
    for record in records:
        by_idx = {one["idx"]: _paragraph(one, record["id"]) for one in record["paragraphs"]}
        steps = [step for step in record["question_decomposition"] if step["paragraph_support_idx"] is not None]
        gold = tuple(
            Gold(
                by_idx[step["paragraph_support_idx"]],
                _numbers(by_idx[step["paragraph_support_idx"]], step["answer"]),
                "later" if REFERS.search(step["question"]) else "first",
            )
            for step in steps
        )
        kind = record["id"].partition("__")[0]
        yield Asking(record["id"], record["question"], record["answer"], kind, gold)


def _numbers(paragraph: Paragraph, answer: str) -> tuple[int, ...]:
    """The first sentence that says the answer; every one where none does.

    >>> _numbers(Paragraph("Ghent", ("It rains.", "Ghent has 260,000 people.", "In 1900, 160,000.")), "260,000")
    (1,)
    """
    wanted = f" {normalised(answer)} "
    said = [n for n, text in paragraph.numbered if wanted.strip() and wanted in f" {normalised(text)} "]
    return tuple(said[:1] or [n for n, _ in paragraph.numbered])


def _records(path: Path, forms: tuple[Mapping[str, Any], ...]) -> list[dict[str, Any]]:
    """The objects of a file. Raises SecateurError where a paragraph or a step is of another form."""
    records = read_objects(path, forms)
    problems = Problems(
        path, "fetch the file again; a step's paragraph_support_idx is the idx of one of the paragraphs"
    )
    for n, record in enumerate(records):
        parts = [("paragraphs", PARAGRAPH), ("question_decomposition", STEP)]
        wrong = [
            f"{name}: {clause}"
            for name, form in parts
            for one in record.get(name, [])
            for clause in check_fields(one, form)
        ]
        if not wrong:
            known = {one["idx"] for one in record.get("paragraphs", [])} | {None}
            named = [step["paragraph_support_idx"] for step in record.get("question_decomposition", [])]
            wrong = [f"a step names paragraph {idx}, which is not there" for idx in named if idx not in known]
        for clause in wrong[:3]:
            problems.add(f"object {n}", clause)
    problems.stop()
    return records
