"""A folder of your own data: passages.jsonl in reading order and questions.jsonl, both plain or gzipped."""

from pathlib import Path

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.formats._objects import PASSAGE, QUESTION, Objects, corpus_of, questions_of
from secateur.datasets.reading import Forms, Problems, read_lines
from secateur.datasets.schema import Corpus, Files, Questions, Request

CORPUS_FILES, QUESTION_FILES = ("folder",), ("folder",)


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The passages. Raises SecateurError with all problems of the file, each with its line."""
    return corpus_of(*_read(files["folder"], "passages", PASSAGE, required="id and text"))


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions and their evidence. Raises SecateurError with all problems of the file, each with its line."""
    objects, problems = _read(files["folder"], "questions", QUESTION, required="id and question")
    return questions_of(request, objects, passages, problems)


def _read(folder: Path, stem: str, forms: Forms, required: str) -> tuple[Objects, Problems]:
    """The valid objects of a file, and the problems of the others. Raises SecateurError for no file and for two."""
    present = [path for path in (folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz") if path.is_file()]
    if len(present) > 1:
        raise SecateurError(f"{folder}: holds {stem}.jsonl and {stem}.jsonl.gz. Fix: remove one of the two")
    if not present:
        content = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) if folder.is_dir() else ""
        state = f"it holds {content}" if content else "it is empty" if folder.is_dir() else "no such folder"
        raise SecateurError(
            f"{folder}: no {stem}.jsonl or {stem}.jsonl.gz ({state}). "
            "Fix: name a folder with passages.jsonl and questions.jsonl"
        )
    problems = Problems(present[0], f"one JSON object a line with {required}; allowed keys: {', '.join(forms)}")
    return read_lines(present[0], forms, problems), problems
