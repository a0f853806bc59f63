"""A folder of your own documents (text, Markdown, HTML, PDF, Word, e-mail), a passage a sentence, and questions.jsonl.

Passage ids are `PATH:N`, with the document's path in the folder and the number of the sentence from 0. Questions may quote
their evidence (`evidence_text`) in place of naming it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.datasets.documents.read import SUFFIXES, read_document
from secateur.datasets.formats._objects import GROUP
from secateur.datasets.formats.folder import load_questions
from secateur.datasets.schema import Corpus, Files, passages_frame
from secateur.datasets.texts import sentence_rows

__all__ = ["CORPUS_FILES", "FOLDER", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("text", ...), ("folder",)
FOLDER = {
    "corpus": ("|".join(f"**/*{suffix}" for suffix in SUFFIXES),),
    "questions": ("questions.jsonl",),
}  # files of the folder


@dataclass(frozen=True)
class Settings:
    """The folder, which document ids are relative to."""

    root: Any = key("the folder of the documents")


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """The sentences of the documents. Raises SecateurError if none has any."""
    root = Path(settings.root)
    texts = {path.relative_to(root).as_posix(): read_document(path) for path in files.values()}
    rows, empty = sentence_rows(texts, GROUP)
    if not rows:
        raise SecateurError(f"{root}: its {len(texts)} documents hold no sentence. Fix: documents with some text")
    return Corpus(passages_frame(rows), {"documents": len(texts) - len(empty), "documents_empty": len(empty)})
