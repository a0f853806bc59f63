"""TV: questions only. Their corpus is not obtainable, so evidence stays text, elided ("head...tail") where it was."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.schema import Asked, Corpus, Questions
from secateur.datasets.upstream import build_questions, read_questions

__all__ = ["CORPUS", "CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = (), ("questions",)
CORPUS = False  # its text cannot be obtained


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """Raises SecateurError: there is no corpus."""
    raise SecateurError(
        "tv: the TV corpus is not obtainable, the data set is questions only and only prepare_dataset works on it. "
        "Fix: leave tv out of the experiment; stem, stem_dev and stem_old have a corpus"
    )


def load_questions(
    asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame | None, settings: Settings
) -> Questions:
    """The questions; every evidence text is unresolved, every question its own unit of resampling.

    Raises SecateurError for files of another form and repeated ids.
    """
    questions = read_questions(files["questions"])
    found = {q["id"]: [(text, None) for text in q.get("evidence") or [] if text.strip()] for q in questions}
    return build_questions(asked.dataset, questions, found, lambda q: q["id"])
