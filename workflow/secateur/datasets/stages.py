"""The stages from files to passages and questions, for the pipeline's rules and the forecast."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from secateur.datasets.loaders import format_of, load_corpus, load_questions, named_files
from secateur.datasets.schema import (
    Corpus,
    Questions,
    limit_questions,
    sample_documents,
    sample_questions,
)

__all__ = ["corpus", "questions"]


def corpus(cfg, files: Sequence[Path]) -> Corpus:
    """The passages of files, of a sample of the documents if the option says so. cfg: the option `corpus`."""
    loaded = load_corpus(cfg.format, named_files(format_of(cfg.format).CORPUS_FILES, files))
    passages = loaded.passages if cfg.documents is None else sample_documents(loaded.passages, cfg.documents)
    return Corpus(passages, loaded.counts)


def questions(
    cfg, files: Sequence[Path], name: str, passages: pl.DataFrame, sampled: bool, first: Mapping[str, Any] | None
) -> Questions:
    """The questions of files, resolved against the passages.

    cfg: the option `dataset`, and its name; sampled: whether the passages are some of the corpus; first: the split and the
    number of those to keep, all for None.
    """
    paths = named_files(format_of(cfg.format).QUESTION_FILES, files)
    cluster = "group" if cfg.kind == "dialogue" else "document"
    loaded = load_questions(cfg.format, cfg.control_of or name, paths, passages, cluster, sampled)
    loaded = sample_questions(loaded, cfg.sample)
    return limit_questions(loaded, **first) if first else loaded
