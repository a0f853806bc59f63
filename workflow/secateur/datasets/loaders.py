"""One door to every format of data: a corpus and its questions apart, since question sets share a corpus."""

from collections.abc import Mapping
from pathlib import Path
from types import EllipsisType
from typing import Any, Protocol

import polars as pl

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.datasets.schema import Asked, Cluster, Corpus, Questions

__all__ = ["Format", "Spec", "format_of", "load_corpus", "load_questions", "named_files", "reads_folder"]

Spec = str | Mapping[str, Any]  # a format's name, or {kind: NAME, its settings}


class Format(Protocol):
    """What a file in formats/ defines besides `Settings`.

    The names under which its two loaders expect their files; a folder is named `folder`, and an ellipsis at the end stands
    for any number of files more (`NAME2`, `NAME3`). It may also state SAMPLES = True (`asked.sampled` is obeyed), and
    LABELLED = True (a passage's title says of what kind the passage is).
    """

    CORPUS_FILES: tuple[str | EllipsisType, ...]
    QUESTION_FILES: tuple[str | EllipsisType, ...]

    @staticmethod
    def load_corpus(files: Mapping[str, Path], settings: Any) -> Corpus:
        """The passages."""

    @staticmethod
    def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Any) -> Questions:
        """The questions, and their evidence in the passages."""


def format_of(spec: Spec) -> Format:
    """The format that a value of the configuration names. Raises SecateurError where it is none."""
    return plugins.load("format", *plugins.named(spec))


def reads_folder(spec: Spec) -> bool:
    """Whether it reads a folder that the user names, not files of the registry."""
    return "folder" in format_of(spec).CORPUS_FILES


def load_corpus(spec: Spec, files: Mapping[str, Path]) -> Corpus:
    """The passages of a corpus.

    Raises SecateurError for an unknown format, and for a file that is not named or unusable.
    """
    form = format_of(spec)
    corpus = form.load_corpus(_named(spec, files, form.CORPUS_FILES), _settings(spec))
    if corpus.passages.is_empty():
        raise SecateurError(f"{_listed(files)}: no passages in it. Fix: name files that hold some text")
    return corpus


def load_questions(
    spec: Spec,
    dataset: str,
    files: Mapping[str, Path],
    passages: pl.DataFrame,
    cluster: Cluster = "document",
    sampled: bool = False,
) -> Questions:
    """The questions of a data set and their evidence in its passages.

    `cluster` is what a folder's questions are resampled by; the other formats know it themselves. Where the corpus is
    `sampled`, questions about documents that are not in it are left out.
    Raises SecateurError for an unknown format, and for a file that is missing or unusable.
    """
    form = format_of(spec)
    if sampled and not form.SAMPLES:
        raise SecateurError(
            f"{dataset}: corpus.documents is set, but format {spec} has no documents to leave out. Fix: set it to null"
        )
    asked = Asked(dataset, cluster, sampled)
    found = form.load_questions(asked, _named(spec, files, form.QUESTION_FILES), passages, _settings(spec))
    if found.questions.is_empty():
        raise SecateurError(f"{_listed(files)}: no questions for {dataset} in it. Fix: name files that hold some")
    return found


def _settings(spec: Spec) -> Any:
    return plugins.settings("format", spec, "conf/corpus or conf/dataset")


def _listed(files: Mapping[str, Path]) -> str:
    return ", ".join(str(path) for path in files.values())


def _named(spec: Spec, files: Mapping[str, Path], names: tuple[str | EllipsisType, ...]) -> dict[str, Path]:
    """The files under the names that a loader asks for."""
    missing = [name for name in names if name is not ... and name not in files]
    if missing:
        given = ", ".join(files) or "none"
        raise SecateurError(
            f"format {spec}: no file for {', '.join(missing)} (given: {given}). Fix: name it under `files`"
        )
    wanted = files if ... in names else names
    return {name: Path(files[name]) for name in wanted}


def named_files(names: tuple[str | EllipsisType, ...], paths: list[Path]) -> dict[str, Path]:
    """A rule's input files under the names a loader asks for, in order; a folder is known by a file in it.

    >>> [*named_files(("pool", ...), [Path("a.json"), Path("b.json")])]
    ['pool', 'pool2']
    """
    if ... in names:
        first = names[: names.index(...)]
        names = (*first, *(f"{first[-1]}{n}" for n in range(2, len(paths) - len(first) + 2)))
    return {name: path.parent if name == "folder" else path for name, path in zip(names, paths, strict=True)}
