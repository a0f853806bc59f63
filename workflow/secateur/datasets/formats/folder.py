"""Bring your own data: a folder with passages.jsonl in reading order, and questions.jsonl; .jsonl.gz too."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.formats._objects import PASSAGE, QUESTION, corpus_of, questions_of
from secateur.datasets.problems import Problems
from secateur.datasets.reading import Forms, well_formed
from secateur.datasets.schema import Asked, Corpus, Questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("folder",), ("folder",)


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """The passages. Raises SecateurError with all problems of the file, each with its line."""
    path = _file(files["folder"], "passages")
    problems = _problems(path, PASSAGE, required="id and text")
    return corpus_of(well_formed(path, PASSAGE, problems), problems)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions and their evidence. Raises SecateurError with all problems of the file, each with its line."""
    path = _file(files["folder"], "questions")
    problems = _problems(path, QUESTION, required="id and question")
    return questions_of(asked, well_formed(path, QUESTION, problems), passages, problems)


def _file(folder: Path, stem: str) -> Path:
    """passages.jsonl or passages.jsonl.gz of the folder. Raises SecateurError for none and for both."""
    present = [path for path in (folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz") if path.is_file()]
    if len(present) == 1:
        return present[0]
    if present:
        raise SecateurError(f"{folder}: holds {stem}.jsonl and {stem}.jsonl.gz. Fix: remove one of the two")
    held = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) if folder.is_dir() else ""
    state = f"it holds {held}" if held else "it is empty" if folder.is_dir() else "no such folder"
    raise SecateurError(
        f"{folder}: no {stem}.jsonl or {stem}.jsonl.gz ({state}). "
        "Fix: name a folder with passages.jsonl and questions.jsonl with DATA=DIR"
    )


def _problems(path: Path, forms: Forms, required: str) -> Problems:
    return Problems(path, f"one JSON object a line with {required}; allowed keys: {', '.join(forms)}")
