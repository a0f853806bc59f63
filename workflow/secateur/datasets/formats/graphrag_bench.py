"""GraphRAG-Bench: the Medical corpus and the Novel books; evidence is stated by a model and seldom verbatim."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.containment import quotable_groups
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, read_records
from secateur.datasets.schema import Asked, Corpus, Questions, passages_frame
from secateur.datasets.sentences import sentences
from secateur.datasets.upstream import CORPUS_FIELDS, Question, build_questions, check_groups, read_questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "SAMPLES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("corpus",), ("questions",)
SAMPLES = True  # questions about texts that are not in a sample are left out

KNOWN_REPEATS = frozenset({"Novel-55f0c0e2"})  # two different questions under one id, in v1 and in v2


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """One passage for each sentence that is distinct within its text; each text is a document and a group.

    Raises SecateurError for files of another form, empty texts and repeated names.
    """
    rows: list[dict[str, Any]] = []
    found = 0
    texts = _texts(files["corpus"])
    for name, text in texts.items():
        first = {}
        for sentence, start, end in sentences(text):
            found += 1
            first.setdefault(sentence, (start, end))
        rows += [
            {
                "passage_id": f"{name}:{n}",
                "doc_id": name,
                "group_id": name,
                "position": n,
                "text": sentence,
                "start": start,
                "end": end,
            }
            for n, (sentence, (start, end)) in enumerate(first.items())
        ]
    counts = {"passages": len(rows), "documents": len(texts), "repeated_sentences_dropped": found - len(rows)}
    return Corpus(passages_frame(rows), counts)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions of either release; v1 states no evidence, v2 as one string of parts joined by "; ".

    Where the corpus is a sample of the texts, questions about the others are left out.
    Raises SecateurError for files of another form, unknown repeated ids, and questions about another corpus.
    """
    questions = read_questions(files["questions"], KNOWN_REPEATS)
    if asked.sampled:
        questions = [q for q in questions if q["source"] in set(passages["group_id"])]
    check_groups(files["questions"], questions, passages)
    quotable = quotable_groups(passages)
    found = {q["id"]: [(text, quotable[q["source"]].only_holder(text)) for text in _evidence(q)] for q in questions}
    # Several books are the units to resample; with a single corpus the questions are.
    books = passages["group_id"].n_unique() > 1
    built = build_questions(asked.dataset, questions, found, lambda q: q["source"] if books else q["id"])
    renamed = sum(1 for q in questions if q["id"].rpartition("#")[0] in KNOWN_REPEATS)
    return Questions(built.questions, built.evidence, built.counts | {"duplicate_question_ids_renamed": renamed})


def _evidence(question: Question) -> list[str]:
    """The parts of a question's evidence."""
    evidence = question.get("evidence") or []
    parts = evidence.split("; ") if isinstance(evidence, str) else evidence
    return [part.strip() for part in parts if part.strip()]


def _texts(path: Path) -> dict[str, str]:
    """Name -> text, from JSON or Parquet."""
    records = _parquet(path) if path.suffix == ".parquet" else read_records(path, CORPUS_FIELDS)
    problems = Problems(path, "each text has a name of its own and is not empty; fetch the file again")
    texts: dict[str, str] = {}
    for n, record in enumerate(records):
        clauses = check_fields(record, CORPUS_FIELDS)
        if not clauses and record["corpus_name"] in texts:
            clauses = [f"corpus_name {record['corpus_name']!r} occurs before"]
        if not clauses and not record["context"].strip():
            clauses = [f"context of {record['corpus_name']} is empty"]
        for clause in clauses:
            problems.add(f"text {n}", clause)
        if not clauses:
            texts[record["corpus_name"]] = record["context"]
    if not records:
        problems.add("the file", "holds no text")
    problems.stop()
    return texts


def _parquet(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    try:
        return pl.read_parquet(path).to_dicts()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SecateurError(f"{path}: not a readable Parquet file ({error}). Fix: fetch the file again") from error
