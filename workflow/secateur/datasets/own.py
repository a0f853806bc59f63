"""A user's folder: its form, and what its files hold."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from secateur.core.errors import SecateurError
from secateur.datasets.documents.read import SUFFIXES
from secateur.datasets.loaders import format_of, load_corpus, load_questions, named_files
from secateur.datasets.schema import Corpus, Questions
from secateur.datasets.texts import text_files

__all__ = ["FORMS", "Own", "corpus_of", "form_of", "read_own"]

FORMS = {  # form of a folder: (data set, experiment) that those of the user inherit
    "documents": ("custom", "custom"),
    "dialogues": ("custom_dialogue", "custom_dialogue"),
    "BEIR": ("beir", "custom_beir"),
    "texts": ("texts", "custom"),
}
ALLOWED = f"passages.jsonl (or documents in {', '.join(SUFFIXES)}) and questions.jsonl, or a folder in BEIR's form"


@dataclass(frozen=True)
class Own:
    """A user's folder as it was read. spec: its format; counts: of its corpus."""

    form: str
    spec: str | dict
    passages: pl.DataFrame
    questions: Questions
    counts: dict[str, int]

    @property
    def has_evidence(self) -> bool:
        """Whether any evidence resolves to a passage."""
        return self.questions.evidence["passage_id"].null_count() < self.questions.evidence.height


def form_of(folder: Path) -> str:
    """`BEIR`, `texts` or `documents`, by the names of the files. Raises SecateurError for any other folder."""
    if not folder.is_dir():
        raise SecateurError(f"{folder}: no such folder. Fix: name a folder with {ALLOWED} (docs/data.md)")
    if _exists(folder, "corpus.jsonl"):
        return "BEIR"
    if _exists(folder, "passages.jsonl"):
        return "documents"
    if text_files(folder):
        return "texts"
    content = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
    raise SecateurError(f"{folder}: holds {content}. Fix: {ALLOWED} (docs/data.md)")


def _exists(folder: Path, name: str) -> bool:
    return (folder / name).is_file() or (folder / f"{name}.gz").is_file()


def corpus_of(spec: str | dict, files: list[Path]) -> Corpus:
    """The passages of a folder's files. Raises SecateurError with all problems of a file."""
    return load_corpus(spec, named_files(format_of(spec).CORPUS_FILES, files))


def read_own(folder: Path, paths: dict[str, list[Path]], spec: str | dict, form: str) -> Own:
    """The passages and questions of a folder. Passages that all have a speaker are dialogues.

    paths: the files of the parts `corpus` and `questions`. Raises SecateurError with all problems of a file.
    """
    corpus = corpus_of(spec, paths["corpus"])
    passages = corpus.passages
    spoken = form == "documents" and passages["speaker"].null_count() == 0
    files = named_files(format_of(spec).QUESTION_FILES, paths["questions"])
    questions = load_questions(spec, folder.name, files, passages, "group" if spoken else "document")
    return Own("dialogues" if spoken else form, spec, passages, questions, corpus.counts)
