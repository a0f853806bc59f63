"""HotpotQA: the paragraphs of all its questions in one pool, gold by sentence.

Files are the official ones (distractor setting), samples of them, and corpora of distractors, [{title, text}]. The hop
of a gold passage is `named` where the question contains the title of its article, else `bridge`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from secateur.datasets.formats._pool import (
    ARTICLE,
    Gold,
    Paragraph,
    PoolQuestion,
    Settings,
    article,
    corpus_of,
    named_in,
    questions_of,
    read_files,
)
from secateur.datasets.reading import STRING, STRING_OR_NULL, STRINGS_OR_NULL, Forms, of_type
from secateur.datasets.schema import Corpus, Files, Questions, Request

CORPUS_FILES, QUESTION_FILES = ("pool", ...), ("questions", ...)
QUESTION: Forms = {
    "_id": STRING,
    "question": STRING,
    "answer": STRING,
    "answer_aliases": STRINGS_OR_NULL,
    "type": STRING_OR_NULL,
    "context": of_type(list),
    "supporting_facts": of_type(list),
}
FIX = "context is [[title, [sentence]]], supporting_facts [[title of the context, number]]"


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The pool of all files. Raises SecateurError for files of another form."""
    records = read_files(files, (QUESTION, ARTICLE), _faults, FIX)
    return corpus_of((paragraph for record in records for paragraph in _paragraphs(record)), settings)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with their supporting facts. Raises SecateurError for files of another form and repeated ids."""
    questions = [_question(record) for record in read_files(files, (QUESTION,), _faults, FIX)]
    return questions_of(request, files, questions, passages, settings)


def _paragraphs(record: Mapping[str, Any]) -> Iterator[Paragraph]:
    """The paragraphs of a question or of a corpus."""
    if "context" in record:
        yield from (Paragraph(title, tuple(texts), record["_id"]) for title, texts in record["context"])
    else:
        yield article(record)


def _question(record: Mapping[str, Any]) -> PoolQuestion:
    paragraphs = {title: Paragraph(title, tuple(texts)) for title, texts in record["context"]}
    facts: dict[str, list[int]] = {}
    for title, number in record["supporting_facts"]:
        facts.setdefault(title, []).append(number)
    gold = tuple(
        Gold(paragraphs[title], tuple(numbers), "named" if named_in(title, record["question"]) else "bridge")
        for title, numbers in facts.items()
    )
    aliases = tuple(record.get("answer_aliases") or ())
    return PoolQuestion(record["_id"], record["question"], record["answer"], record.get("type"), gold, aliases)


def _faults(record: Mapping[str, Any]) -> list[str]:
    """Clauses on a context and supporting facts of another form."""
    context = record.get("context", [])
    invalid = next((paragraph for paragraph in context if not _is_paragraph(paragraph)), None)
    if invalid is not None:
        return [f"context has {invalid!r:.80}"]
    titles: dict[str, set[tuple[str, ...]]] = {}
    for title, texts in context:
        titles.setdefault(title, set()).add(tuple(texts))
    return [
        f"supporting_facts names {fact[0]!r:.80}, which the context has with {len(titles[fact[0]])} texts"
        for fact in record.get("supporting_facts", [])
        if _is_fact(fact) and len(titles.get(fact[0], ())) > 1
    ] + [
        f"supporting_facts has {fact!r:.80}"
        for fact in record.get("supporting_facts", [])
        if not (_is_fact(fact) and fact[0] in titles)
    ]


def _is_fact(value: Any) -> bool:
    """Whether a value is [title, number]."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and type(value[1]) is int


def _is_paragraph(value: Any) -> bool:
    """Whether a value is [title, [sentence]]."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], list)
        and all(isinstance(sentence, str) for sentence in value[1])
    )
