"""One door to every kind of data set: a corpus and its questions apart, since question sets share a corpus."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from secateur.datasets.formats import folder, graphrag_bench, locomo, longmemeval, red_herrings, stem, tv
from secateur.datasets.formats.folder import Cluster
from secateur.datasets.schema import Corpus, Questions
from secateur.pipeline.errors import SecateurError, nearest

__all__ = ["KINDS", "Kind", "load_corpus", "load_questions", "named_files"]


@dataclass(frozen=True)
class Kind:
    """One form of data: its two loaders, and the names under which each expects its files."""

    corpus: Callable[..., Corpus]
    questions: Callable[..., Questions]
    corpus_files: tuple[str, ...]
    question_files: tuple[str, ...]
    needs_passages: bool = True


def _longmemeval(level: longmemeval.Level) -> Kind:
    loaders = (partial(load, level=level) for load in (longmemeval.load_corpus, longmemeval.load_questions))
    return Kind(*loaders, ("histories",), ("histories",))


KINDS: dict[str, Kind] = {
    "locomo": Kind(locomo.load_corpus, locomo.load_questions, ("conversations",), ("conversations",)),
    "longmemeval": _longmemeval("turn"),
    "longmemeval_sessions": _longmemeval("session"),
    "stem": Kind(stem.load_corpus, stem.load_questions, ("corpus", "titles"), ("questions",)),
    "graphrag_bench": Kind(graphrag_bench.load_corpus, graphrag_bench.load_questions, ("corpus",), ("questions",)),
    "tv": Kind(tv.load_corpus, tv.load_questions, (), ("questions",), needs_passages=False),
    "red_herrings": Kind(red_herrings.load_corpus, red_herrings.load_questions, ("herrings",), ("herrings",)),
    "folder": Kind(folder.load_corpus, folder.load_questions, ("folder",), ("folder",)),
}


def load_corpus(kind: str, files: Mapping[str, Path]) -> Corpus:
    """The passages of a corpus.

    Raises SecateurError for an unknown kind, a file that is not named or unusable, and for tv, which has no corpus.
    """
    loader = _kind(kind)
    corpus = loader.corpus(_named(kind, files, loader.corpus_files))
    if corpus.passages.is_empty():
        raise SecateurError(f"{_listed(files)}: no passages in it. Fix: name files that hold some text")
    return corpus


def load_questions(
    kind: str,
    dataset: str,
    files: Mapping[str, Path],
    passages: pl.DataFrame | None = None,
    cluster: Cluster = "document",
    sampled: bool = False,
) -> Questions:
    """The questions of a data set and their evidence in its passages.

    `cluster` is what a folder's questions are resampled by; the other kinds know it themselves. Where the corpus is
    `sampled`, questions about documents that are not in it are left out.
    Raises SecateurError for an unknown kind, and for a file or passages that are missing or unusable.
    """
    loader = _kind(kind)
    if passages is None and loader.needs_passages:
        raise SecateurError(f"{dataset}: questions of kind {kind} need their passages. Fix: load the corpus first")
    if sampled and kind != "graphrag_bench":
        raise SecateurError(
            f"{dataset}: corpus.documents is set, but kind {kind} has no documents to leave out (graphrag_bench has). "
            "Fix: set it to null"
        )
    options = {"cluster": cluster} if kind == "folder" else {"sampled": True} if sampled else {}
    found = loader.questions(dataset, _named(kind, files, loader.question_files), passages, **options)
    if found.questions.is_empty():
        raise SecateurError(f"{_listed(files)}: no questions for {dataset} in it. Fix: name files that hold some")
    return found


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise SecateurError(
            f"data set kind {name!r} is unknown{nearest(name, KINDS)}. Fix: use one of {', '.join(KINDS)}"
        )
    return KINDS[name]


def _listed(files: Mapping[str, Path]) -> str:
    return ", ".join(str(path) for path in files.values())


def _named(kind: str, files: Mapping[str, Path], names: tuple[str, ...]) -> dict[str, Path]:
    """The files under the names that a loader asks for."""
    missing = [name for name in names if name not in files]
    if missing:
        given = ", ".join(files) or "none"
        raise SecateurError(
            f"kind {kind}: no file for {', '.join(missing)} (given: {given}). Fix: name it under `files`"
        )
    return {name: Path(files[name]) for name in names}


def named_files(names: tuple[str, ...], paths: list[Path]) -> dict[str, Path]:
    """A rule's input files under the names a loader asks for, in order; a folder is known by a file in it."""
    return {name: path.parent if name == "folder" else path for name, path in zip(names, paths, strict=True)}
