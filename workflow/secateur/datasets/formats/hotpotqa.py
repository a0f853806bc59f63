"""HotpotQA: the paragraphs of all its questions in one pool, gold by sentence.

Files are the official ones (distractor form), samples of them, and corpora of distractors, [{title, text}]. A gold
passage is `named` where the question says the title of its article, else found over a `bridge`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.datasets.formats._pool import (
    Asking,
    Gold,
    Paragraph,
    Settings,
    corpus_of,
    named_in,
    questions_of,
    read_objects,
    split_text,
)
from secateur.datasets.problems import Problems
from secateur.datasets.reading import unique_ids
from secateur.datasets.schema import Asked, Corpus, Questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("pool", ...), ("questions", ...)
QUESTION = {
    "_id": (str,),
    "question": (str,),
    "answer": (str,),
    "type": (str, type(None)),
    "context": (list,),
    "supporting_facts": (list,),
}
ARTICLE = {"title": (str,), "text": (str,)}


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The pool of all files. Raises SecateurError for files of another form."""
    return corpus_of(_paragraphs(files), settings)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions with their supporting facts. Raises SecateurError for files of another form and repeated ids."""
    return questions_of(asked, list(_questions(files)), passages, settings)


def _paragraphs(files: Mapping[str, Path]) -> Iterator[Paragraph]:
    """The paragraphs of questions and of corpora."""
    for path in files.values():
        for record in _records(path, (QUESTION, ARTICLE)):
            if "context" in record:
                yield from (Paragraph(title, tuple(said), record["_id"]) for title, said in record["context"])
            else:
                yield Paragraph(record["title"], split_text(record["text"]))


def _questions(files: Mapping[str, Path]) -> Iterator[Asking]:
    """The questions of all files, each id once."""
    records = [(path, record) for path in files.values() for record in _records(path, (QUESTION,))]
    unique_ids(next(iter(files.values())), [record["_id"] for _, record in records])
    for _, record in records:
        own = {title: Paragraph(title, tuple(said)) for title, said in record["context"]}
        facts: dict[str, list[int]] = {}
        for title, number in record["supporting_facts"]:
            facts.setdefault(title, []).append(number)
        gold = tuple(
            Gold(own[title], tuple(numbers), "named" if named_in(title, record["question"]) else "bridge")
            for title, numbers in facts.items()
        )
        yield Asking(record["_id"], record["question"], record["answer"], record.get("type"), gold)


def _records(path: Path, forms: tuple[Mapping[str, Any], ...]) -> list[dict[str, Any]]:
    """The objects of a file. Raises SecateurError where a context or a supporting fact is of another form."""
    records = read_objects(path, forms)
    problems = Problems(path, "context is [[title, [sentence]]], supporting_facts [[title of the context, number]]")
    for n, record in enumerate(records):
        where, context = f"object {n}", record.get("context", [])
        wrong = next((one for one in context if not _is_paragraph(one)), None)
        if wrong is not None:
            problems.add(where, f"context has {wrong!r:.80}")
            continue
        titles = {title for title, _ in context}
        for fact in record.get("supporting_facts", []):
            if not (isinstance(fact, list) and len(fact) == 2 and fact[0] in titles and type(fact[1]) is int):
                problems.add(where, f"supporting_facts has {fact!r:.80}")
    problems.stop()
    return records


def _is_paragraph(one: Any) -> bool:
    """Whether it is [title, [sentence]]."""
    return (
        isinstance(one, list)
        and len(one) == 2
        and isinstance(one[0], str)
        and isinstance(one[1], list)
        and all(isinstance(sentence, str) for sentence in one[1])
    )
