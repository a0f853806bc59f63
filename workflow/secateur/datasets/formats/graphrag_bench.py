"""GraphRAG-Bench: the Medical corpus and the Novel books; evidence is worded by a model and seldom verbatim."""

from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.formats._upstream import CORPUS, questions_of, quoted_evidence, read_questions, sentence_rows
from secateur.datasets.reading import Problems, form_problems, read_records
from secateur.datasets.schema import Corpus, Files, Questions, Request, passages_frame

CORPUS_FILES, QUESTION_FILES = ("corpus",), ("questions",)
SAMPLES = True  # questions about texts that are not in a sample are dropped

KNOWN_REPEATS = frozenset({"Novel-55f0c0e2"})  # two different questions under one id, in v1 and in v2


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """One passage for each sentence that is distinct within its text; each text is a document and a group.

    Raises SecateurError for files of another form, empty texts and repeated names.
    """
    rows, repeated, texts = [], 0, _texts(files["corpus"])
    for name, text in texts.items():
        new, old = sentence_rows(name, text, set(), group_id=name)
        rows += new
        repeated += old
    counts = {"passages": len(rows), "documents": len(texts), "repeated_sentences_dropped": repeated}
    return Corpus(passages_frame(rows), counts)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions of either release; v1 has no evidence, v2 one string of parts joined by "; ".

    If the corpus is a sample of the texts, questions about the others are dropped.
    Raises SecateurError for files of another form, unknown repeated ids, and questions about another corpus.
    """
    questions = read_questions(files["questions"], KNOWN_REPEATS)
    if request.sampled:
        groups = set(passages["group_id"])
        questions = [q for q in questions if q["source"] in groups]
    pairs_of = quoted_evidence(files["questions"], questions, passages)
    # Several books are the units to resample; with a single corpus the questions are.
    unit = "source" if passages["group_id"].n_unique() > 1 else "id"
    renamed = sum(q["id"].rpartition("#")[0] in KNOWN_REPEATS for q in questions)
    return questions_of(request.dataset, questions, pairs_of, lambda q: q[unit], duplicate_question_ids_renamed=renamed)


def _texts(path: Path) -> dict[str, str]:
    """Text by name, from JSON or Parquet."""
    records = _parquet(path) if path.suffix == ".parquet" else read_records(path, CORPUS)
    problems = Problems(path, "each text has a unique name and is not empty; fetch the file again")
    texts: dict[str, str] = {}
    for n, record in enumerate(records):
        clauses = form_problems(record, CORPUS, extra=True)
        if not clauses and record["corpus_name"] in texts:
            clauses = [f"corpus_name {record['corpus_name']!r} occurs before"]
        if not clauses and not record["context"].strip():
            clauses = [f"context of {record['corpus_name']} is empty"]
        problems.add(f"text {n}", *clauses)
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
