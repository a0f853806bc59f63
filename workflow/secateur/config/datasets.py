"""Options of corpora and data sets."""

from dataclasses import dataclass
from typing import Any, Literal

from secateur.core.fields import key

__all__ = ["SPLITS", "Corpus", "Dataset"]

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Corpus:
    """Text to read: where its passages come from."""

    format: Any = key("format of the files: a name, or {kind: NAME, its settings}", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash, in which * is a wildcard")
    extra: tuple[str, ...] = key("further files of the repository that the format needs, e.g. titles", default=())
    documents: int | None = key(
        "sample: number of documents, the first by hash of their name; null: all", low=1, default=None
    )
    shuffle: int | None = key("control: seed of a new order of the passages within each document", default=None)
    folder: str | None = key("folder with passages.jsonl and questions.jsonl, for the format `folder`", default=None)


@dataclass(frozen=True)
class Dataset:
    """A set of questions about a corpus, in one release."""

    corpus: str = key("text of the questions: an option of conf/corpus, or settings of a corpus with this set's name")
    control_of: str | None = key("data set with the same questions and splits on another corpus")
    kind: Literal["documents", "dialogue"] = key("documents: contexts are assembled; dialogue: turns are selected")
    format: Any = key("format of the questions: a name, or {kind: NAME, its settings}", family="format")
    files: tuple[str, ...] = key("names in data/registry, or paths with a slash, in which * is a wildcard")
    folder: str | None = key("folder with questions.jsonl, for the format `folder`")
    split: Literal["train", "dev", "test", "all"] = key("split whose figures are reported; all: every question")
    sample: dict[str, int] = key("split: questions kept, the first by hash of their id; a missing split: all", low=1)
    metrics: tuple[Any, ...] = key(
        "metrics beside eval.metrics, e.g. [semantic] for evidence that does not quote the text", family="metric"
    )
    types: dict[str, tuple[str, ...]] = key("named subsets of question types, with rows for each")
    first: dict[str, int] = key("named subsets: the first N questions with evidence of each group")
    unanswerable: tuple[str, ...] = key("question types left out of answer-aware rows")
    scored: str | None = key("subset of `first` that a language model reads; null: all questions")
    probed: str | None = key("subset of `first` for costly scorers and null distributions; null: all questions")
    grown: tuple[str, ...] = key("question types whose context is also selected greedily (ECS, algorithm 1)")
    grown_of: str | None = key("subset of `first` for greedy selection; null: all questions")
    gain: int = key("questions whose answer gain is measured, the first by hash of their id; 0: none", low=0)
    gain_at: tuple[int, ...] = key("context tokens at which it is measured; empty: eval.gain_budgets", low=1)
    answered: int = key(
        "questions to answer in experiments with answers, the first by hash of their id; 0: none", low=0
    )
    trained: dict[str, int] = key(
        "split: questions on which the compression policy is trained (train), stopped (dev) and tested (test), the first "
        "by hash of their id; empty: none",
        low=1,
    )
    limit: int | None = key(
        "questions of the reported split, the first by hash of their id of each group in turn (LIMIT)",
        low=1,
        default=None,
    )
    cutoffs: tuple[int, ...] = key(
        "ranks of passage_recall and all_gold (documents; with nDCG@10, reciprocal rank and average precision) or of "
        "recall_any, recall_all and ndcg_any (dialogues); empty: rankings are not measured",
        low=1,
        default=(),
    )
