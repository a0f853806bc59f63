"""MuSiQue: the paragraphs of all its questions in one pool, gold by paragraph or by its sentence with the answer.

Files are the official ones (JSON lines), samples as JSON lists, and corpora of distractors, [{title, text}]. The gold
sentence of a step is the first of its paragraph that contains the step's answer as whole words, or the whole paragraph.
The hop of a step that quotes the answer of another (#1) is `later`, that of the others `first`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.datasets.containment import normalised
from secateur.datasets.formats._pool import (
    ARTICLE,
    Gold,
    Paragraph,
    PoolQuestion,
    Settings,
    article,
    corpus_of,
    questions_of,
    read_files,
    split_text,
)
from secateur.datasets.reading import STRING, STRINGS_OR_NULL, Forms, form_problems, of_type
from secateur.datasets.schema import Corpus, Files, Questions, Request

CORPUS_FILES, QUESTION_FILES = ("pool", ...), ("questions", ...)
QUESTION: Forms = {
    "id": STRING,
    "question": STRING,
    "answer": STRING,
    "answer_aliases": STRINGS_OR_NULL,
    "paragraphs": of_type(list),
    "question_decomposition": of_type(list),
}
PARAGRAPH: Forms = {"idx": of_type(int), "title": STRING, "paragraph_text": STRING}
STEP: Forms = {"question": STRING, "answer": STRING, "paragraph_support_idx": of_type(int, type(None))}
REFERENCE = re.compile(r"#\d")
FIX = "fetch the file again; a step's paragraph_support_idx is the idx of one of the paragraphs"
SHOWN = 3  # faults of a record that are named


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The pool of all files. Raises SecateurError for files of another form."""
    records = read_files(files, (QUESTION, ARTICLE), _faults, FIX)
    return corpus_of((paragraph for record in records for paragraph in _paragraphs(record)), settings)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with the sentences of their steps. Raises SecateurError for files of another form, repeated ids."""
    questions = [_question(record) for record in read_files(files, (QUESTION,), _faults, FIX)]
    return questions_of(request, files, questions, passages, settings)


def _paragraphs(record: Mapping[str, Any]) -> Iterator[Paragraph]:
    """The paragraphs of a question or of a corpus."""
    if "paragraphs" in record:
        yield from (_paragraph(entry, record["id"]) for entry in record["paragraphs"])
    else:
        yield article(record)


def _paragraph(entry: Mapping[str, Any], question: str) -> Paragraph:
    return Paragraph(entry["title"], split_text(entry["paragraph_text"]), question)


def _question(record: Mapping[str, Any]) -> PoolQuestion:
    by_idx = {entry["idx"]: _paragraph(entry, record["id"]) for entry in record["paragraphs"]}
    gold = []
    for step in record["question_decomposition"]:
        if step["paragraph_support_idx"] is not None:
            paragraph = by_idx[step["paragraph_support_idx"]]
            hop = "later" if REFERENCE.search(step["question"]) else "first"
            gold.append(Gold(paragraph, _numbers(paragraph, step["answer"]), hop))
    hops = record["id"].partition("__")[0]
    aliases = tuple(record.get("answer_aliases") or ())
    return PoolQuestion(record["id"], record["question"], record["answer"], hops, tuple(gold), aliases)


def _numbers(paragraph: Paragraph, answer: str) -> tuple[int, ...]:
    """Number of the first sentence that contains the answer, or of every sentence if none does.

    >>> _numbers(Paragraph("Ghent", ("It rains.", "Ghent has 260,000 people.", "In 1900, 160,000.")), "260,000")
    (1,)
    """
    words = normalised(answer)
    numbers = [n for n, text in paragraph.numbered if words and f" {words} " in f" {normalised(text)} "]
    return tuple(numbers[:1] or [n for n, _ in paragraph.numbered])


def _faults(record: Mapping[str, Any]) -> list[str]:
    """Clauses on paragraphs and steps of another form."""
    clauses = [
        f"{name}: {clause}"
        for name, form in (("paragraphs", PARAGRAPH), ("question_decomposition", STEP))
        for entry in record.get(name, [])
        for clause in form_problems(entry, form, extra=True)
    ]
    if not clauses:
        paragraphs = {entry["idx"] for entry in record.get("paragraphs", [])} | {None}
        named = [step["paragraph_support_idx"] for step in record.get("question_decomposition", [])]
        clauses = [f"a step names paragraph {idx}, which is not there" for idx in named if idx not in paragraphs]
    return clauses[:SHOWN]
