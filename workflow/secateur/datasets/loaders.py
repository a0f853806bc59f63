"""Load a corpus or a question set in any format; both are loaded apart, since question sets share a corpus."""

from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType
from typing import Any, Protocol

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.datasets.schema import Cluster, Corpus, Files, Questions, Request

__all__ = ["Format", "Spec", "format_of", "load_corpus", "load_questions", "named_files", "reads_folder"]

Spec = str | Mapping[str, Any]  # a format's name, or {kind: NAME, its settings}


class Format(Protocol):
    """A plug-in in formats/, besides its `Settings`.

    CORPUS_FILES and QUESTION_FILES name the files of its two loaders. A folder is named `folder`; an ellipsis at the
    end stands for further files (`NAME2`, `NAME3`). A plug-in may also set SAMPLES = True (it obeys `request.sampled`)
    or LABELLED = True (the title of a passage is its label).
    """

    CORPUS_FILES: tuple[str | EllipsisType, ...]
    QUESTION_FILES: tuple[str | EllipsisType, ...]

    @staticmethod
    def load_corpus(files: Files, settings: Any) -> Corpus:
        """The passages."""

    @staticmethod
    def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Any) -> Questions:
        """The questions, and their evidence in the passages."""


def format_of(spec: Spec) -> Format:
    """The format that a configuration value names. Raises SecateurError for an unknown name."""
    return plugins.load("format", *plugins.names_in(spec))


def reads_folder(spec: Spec) -> bool:
    """Whether the format reads a folder of the user in place of registered files."""
    return "folder" in format_of(spec).QUESTION_FILES


def load_corpus(spec: Spec, files: Files) -> Corpus:
    """The passages of a corpus.

    Raises SecateurError for an unknown format, and for a file that is missing or unusable.
    """
    form = format_of(spec)
    corpus = form.load_corpus(_select(spec, files, form.CORPUS_FILES), _settings(spec))
    if corpus.passages.is_empty():
        raise SecateurError(f"{_listed(files)}: no passages. Fix: name files that hold some text")
    return corpus


def load_questions(
    spec: Spec, dataset: str, files: Files, passages: pl.DataFrame, cluster: Cluster = "document", sampled: bool = False
) -> Questions:
    """The questions of a data set and their evidence in its passages.

    cluster: the unit of resampling of a folder's questions; other formats fix it themselves. sampled: whether the
    corpus is a sample, so that questions about other documents are left out.
    Raises SecateurError for an unknown format, and for a file that is missing or unusable.
    """
    form = format_of(spec)
    if sampled and not form.SAMPLES:
        raise SecateurError(
            f"{dataset}: corpus.documents is set, but format {spec} cannot leave documents out. Fix: set it to null"
        )
    request = Request(dataset, cluster, sampled)
    inputs = _select(spec, files, form.QUESTION_FILES)
    loaded = form.load_questions(request, inputs, passages, _settings(spec))
    if loaded.questions.is_empty():
        raise SecateurError(f"{_listed(files)}: no questions for {dataset}. Fix: name files that hold some")
    return loaded


def _settings(spec: Spec) -> Any:
    return plugins.settings("format", spec, "conf/corpus or conf/dataset")


def _listed(files: Files) -> str:
    return ", ".join(map(str, files.values()))


def _select(spec: Spec, files: Files, names: tuple[str | EllipsisType, ...]) -> dict[str, Path]:
    """The files under the names that a loader expects. Raises SecateurError where one is missing."""
    missing = [name for name in names if name is not ... and name not in files]
    if missing:
        raise SecateurError(
            f"format {spec}: no file for {', '.join(missing)} (present: {', '.join(files) or 'none'}). "
            "Fix: name it under `files`"
        )
    return {name: Path(files[name]) for name in (files if ... in names else names)}


def named_files(names: tuple[str | EllipsisType, ...], paths: list[Path]) -> dict[str, Path]:
    """The input files of a rule by the names that a loader expects, in order; a folder is known by a file in it.

    >>> [*named_files(("pool", ...), [Path("a.json"), Path("b.json")])]
    ['pool', 'pool2']
    """
    if ... in names:
        first = names[: names.index(...)]
        names = (*first, *(f"{first[-1]}{n}" for n in range(2, len(paths) - len(first) + 2)))
    return {name: path.parent if name == "folder" else path for name, path in zip(names, paths, strict=True)}
