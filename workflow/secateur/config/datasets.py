"""Options of text and of its questions."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["SPLITS", "Corpus", "Dataset"]

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """Text to read: where its passages come from."""

    format: Any = key("the format of its files: a name, or {kind: NAME, its settings}", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash, in which * stands for anything")
    extra: tuple[str, ...] = key("files of the repository the format needs besides, e.g. titles", default=())
    documents: int | None = key(
        "a sample: so many documents, the first by hash of their name; all where null", low=1, default=None
    )
    shuffle: int | None = key(
        "control: seed by which the passages inside each document are put in another order", default=None
    )
    folder: str | None = key("folder with passages.jsonl and questions.jsonl, for the format `folder`", default=None)


@dataclass(frozen=True)
class Dataset:
    """A corpus with one set of questions, in one release."""

    corpus: str = key(
        "the text the questions are asked of: an option of conf/corpus, or its settings; it then bears the data set's name"
    )
    control_of: str | None = key("the data set whose questions and splits these are, on a changed corpus")
    kind: Literal["documents", "dialogue"] = key("documents take the graph path, dialogues the selection path")
    format: Any = key("the format of its questions: a name, or {kind: NAME, its settings}", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash, in which * stands for anything")
    folder: str | None = key("folder with questions.jsonl, for the format `folder`")
    split: Literal["train", "dev", "test", "all"] = key("the split whose figures are reported; all: every question")
    sample: dict[str, int] = key(
        "split: how many of its questions are kept, the first by hash of their id; else all", low=1
    )
    metrics: tuple[Any, ...] = key(
        "measured beside eval.metrics: [semantic] for evidence that is not quoted from the text", family="metric"
    )
    types: dict[str, tuple[str, ...]] = key("named subsets of question types that get rows of their own")
    first: dict[str, int] = key("named subsets: the first N questions with evidence of each group")
    unanswerable: tuple[str, ...] = key("question types left out of every answer-aware row")
    scored: str | None = key("the subset of `first` that a language model reads; all questions where null")
    probed: str | None = key(
        "the subset of `first` that gets the costly scorers and null draws; all questions where null"
    )
    grown: tuple[str, ...] = key("question types whose context is also selected as a set, greedily (ECS, algorithm 1)")
    grown_of: str | None = key("the subset of `first` in which that is done; all questions where null")
    gain: int = key("questions on which answer gain is measured, the first by hash of their id; 0: it is not", low=0)
    answered: int = key(
        "questions that are answered, the first by hash of their id, where an experiment asks for answers; 0: none",
        low=0,
    )
    trained: dict[str, int] = key(
        "split: how many of its questions the compression policy is trained (train), stopped (dev) and tested (test) on, "
        "the first by hash of their id; none where empty",
        low=1,
    )
    limit: int | None = key(
        "questions of each reported split, the first by hash of their id (LIMIT)", low=1, default=None
    )
    cutoffs: tuple[int, ...] = key(
        "ranks at which passage_recall and all_gold are measured, beside nDCG@10, reciprocal rank and average precision "
        "(documents), or recall_any, recall_all, ndcg_any (dialogues); empty: no ranking is measured",
        low=1,
        default=(),
    )
