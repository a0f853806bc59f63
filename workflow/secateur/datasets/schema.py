"""Input and output of loaders: frames of passages, questions and evidence, with counts of what was repaired."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.models.words import same_text

__all__ = [
    "DRAFTED",
    "Cluster",
    "Corpus",
    "Files",
    "Pair",
    "Questions",
    "Request",
    "build_questions",
    "check_groups",
    "classes",
    "evidence_frame",
    "evidence_rows",
    "limit_questions",
    "of_classes",
    "own_cluster",
    "passages_frame",
    "questions_frame",
    "sample_documents",
    "sample_names",
    "sample_questions",
    "shuffle_passages",
    "split_of",
]

DRAFTED = ("drafted, one passage", "drafted, two passages")  # types of questions that no person asked
TEST_ONLY = frozenset({"locomo", "stem_dev"})
TRAIN, DEV = 0.6, 0.8  # upper ends of the splits
SHOWN = 10  # names in a message

Cluster = Literal["group", "document"]
Files = Mapping[str, Path]  # files of a loader by the names that it expects
Pair = tuple[str, str | None]  # text of evidence, id of the passage that holds it


@dataclass(frozen=True)
class Request:
    """Request for the questions of a data set.

    cluster: unit of resampling, where the format leaves it open; sampled: whether the corpus is a sample of documents.
    """

    dataset: str
    cluster: Cluster = "document"
    sampled: bool = False


@dataclass(frozen=True)
class Corpus:
    """Passages, and counts of what was dropped or repaired on the way."""

    passages: pl.DataFrame
    counts: dict[str, int]


@dataclass(frozen=True)
class Questions:
    """Questions, their evidence, and counts of what was dropped, repaired or left unresolved."""

    questions: pl.DataFrame
    evidence: pl.DataFrame
    counts: dict[str, int]


# --- frames --------------------------------------------------------------------------------------


def passages_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a `passages` frame; a column that no row has is null."""
    return TABLES["passages"].frame(rows)


def questions_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a `questions` frame; a column that no row has is null."""
    return TABLES["questions"].frame(rows)


def evidence_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as an `evidence` frame; a column that no row has is null."""
    return TABLES["evidence"].frame(rows)


def evidence_rows(question_id: str, pairs: Iterable[Pair]) -> list[dict[str, Any]]:
    """Numbered `evidence` rows of one question from (text, passage id or None) pairs.

    A passage named twice counts once; its row carries both texts, so that no word is lost.
    """
    texts: dict[tuple[str, str], str] = {}
    for text, passage_id in pairs:
        key = ("passage", passage_id) if passage_id is not None else ("text", text)
        earlier = texts.get(key, "")
        texts[key] = earlier if earlier and text in earlier else f"{earlier} {text}".strip()
    return [
        {"question_id": question_id, "n": n, "text": text, "passage_id": name if kind == "passage" else None}
        for n, ((kind, name), text) in enumerate(texts.items())
    ]


def _lacking(questions: pl.DataFrame, evidence: pl.DataFrame) -> dict[str, int]:
    """Counts of evidence, and of what questions lack."""
    return {
        "questions_without_answer": questions["answer"].null_count(),
        "questions_without_evidence": questions.join(evidence, on="question_id", how="anti").height,
        "evidence": evidence.height,
        "evidence_unresolved": evidence["passage_id"].null_count(),
    }


def own_cluster(question_id: str, documents: Collection[str]) -> str:
    """The cluster of a question whose evidence is in no document: a name that no document has."""
    while question_id in documents:
        question_id = f"question {question_id}"
    return question_id


def build_questions(
    dataset: str,
    rows: Sequence[Mapping[str, Any]],
    evidence: Sequence[Mapping[str, Any]],
    entries: int | None = None,
    unknown: int = 0,
    **counts: int,
) -> Questions:
    """Questions from rows of `questions` and `evidence`, with the counts that every loader reports.

    A row without `position` gets its place among the rows, a row without `split` that of its id; its `aliases` are
    further gold answers. An answer without text is none, and the first alias takes its place. entries: evidence entries
    before equal ones were joined, if any were; unknown: ids of no passage, which are no evidence, and are counted as
    unresolved; counts: further counts of the loader.
    """
    questions = questions_frame(
        {"position": n}
        | dict(row)
        | {"split": row.get("split") or split_of(dataset, row["question_id"])}
        | dict(zip(("answer", "aliases"), _gold_answers(row), strict=True))
        for n, row in enumerate(rows)
    )
    blank = sum(row.get("answer") is not None and not row["answer"].strip() for row in rows)
    gold = evidence_frame(evidence)
    reported = {"questions": questions.height} | _lacking(questions, gold)
    reported["evidence_repeated"] = (gold.height if entries is None else entries) - gold.height
    reported["evidence_unresolved"] += unknown
    return Questions(questions, gold, reported | ({"answers_without_text": blank} if blank else {}) | counts)


def _gold_answers(row: Mapping[str, Any]) -> tuple[str | None, list[str] | None]:
    """The first gold answer of a row, and the others, each once and with some text; None for none."""
    texts = [row.get("answer"), *(row.get("aliases") or ())]
    stated = list(dict.fromkeys(text for text in texts if text and text.strip()))
    return next(iter(stated), None), stated[1:] or None


def check_groups(path: Path, group_of: Mapping[str, str], passages: pl.DataFrame) -> None:
    """Raise a SecateurError for questions of groups without passages. group_of: question id to group id."""
    groups = set(passages["group_id"])
    strangers = {question: group for question, group in group_of.items() if group not in groups}
    if strangers:
        missing, present = (", ".join(sorted(names)[:SHOWN]) for names in (set(strangers.values()), groups))
        raise SecateurError(
            f"{path}: {len(strangers)} questions (e.g. {next(iter(strangers))}) without passages; the corpus has no "
            f"group {missing}, only {present or 'none'}. Fix: load the corpus and the questions from the same files"
        )


def classes(passages: pl.DataFrame) -> dict[str, str]:
    """Passage id -> id of the first passage of its group with the same text, but for case and blanks.

    What a speaker says twice are two passages, said at two times.
    """
    columns = passages.sort("doc_id", "position").select("passage_id", "group_id", "speaker", "text")
    first: dict[tuple[str, str], str] = {}
    names = {}
    for passage, group, speaker, text in columns.iter_rows():
        key = (group, same_text(text) if speaker is None else f"said\n{passage}")
        names[passage] = first.setdefault(key, passage)
    return names


def of_classes(passages: pl.DataFrame, *tables: pl.DataFrame) -> list[pl.DataFrame]:
    """Tables whose column `passage_id` names the class of each passage."""
    names = classes(passages)
    return [table.with_columns(pl.col("passage_id").replace(names)) for table in tables]


# --- splits and samples --------------------------------------------------------------------------


def split_of(dataset: str, question_id: str) -> str:
    """train, dev or test, by hash of data set and id, so that a question keeps its split when others come or go.

    >>> split_of("locomo", "conv-26:q0")
    'test'
    """
    if dataset in TEST_ONLY:
        return "test"
    draw = int(hashlib.sha256(f"{dataset}:{question_id}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if draw < TRAIN else "dev" if draw < DEV else "test"


def _draw(name: str) -> str:
    """Hash that orders names for sampling; it differs from the hash of splits."""
    return hashlib.sha256(f"sample:{name}".encode()).hexdigest()


def sample_names(names: Iterable[str], count: int | None) -> set[str]:
    """The first `count` names by hash, so that a larger sample holds a smaller one; all names for None."""
    return set(sorted(set(names), key=_draw)[:count])


def sample_documents(passages: pl.DataFrame, count: int) -> pl.DataFrame:
    """The passages of the first `count` documents by hash of their id."""
    return passages.filter(pl.col("doc_id").is_in(sample_names(passages["doc_id"], count)))


def sample_questions(loaded: Questions, counts: Mapping[str, int]) -> Questions:
    """The first questions by hash of their id, `counts[split]` of each named split and all of the other splits."""
    draws = loaded.questions.with_columns(draw=pl.col("question_id").map_elements(_draw, return_dtype=pl.String))
    place = pl.col("draw").rank("ordinal").over("split")
    kept = pl.any_horizontal(
        ~pl.col("split").is_in(list(counts)),
        *((pl.col("split") == split) & (place <= n) for split, n in counts.items()),
    )
    return _with_evidence(loaded, draws.filter(kept).select(loaded.questions.columns))


def limit_questions(loaded: Questions, split: str, count: int) -> Questions:
    """`count` questions of one split (or of `all`): the first of each group by hash of their id, then the second, ..."""
    questions = loaded.questions if split == "all" else loaded.questions.filter(split=split)
    draws = questions.with_columns(draw=pl.col("question_id").map_elements(_draw, return_dtype=pl.String))
    turns = draws.with_columns(turn=pl.col("draw").rank("ordinal").over("group_id"))
    names = turns.sort("turn", "draw").head(count)["question_id"]
    return _with_evidence(loaded, questions.filter(pl.col("question_id").is_in(names.implode())))


def _with_evidence(loaded: Questions, questions: pl.DataFrame) -> Questions:
    """A part of the questions with their evidence; what they lack is counted anew.

    Ids of no passage are no rows, so they stay counted for the whole file.
    """
    evidence = loaded.evidence.join(questions, on="question_id", how="semi", maintain_order="left")
    counts = loaded.counts | _lacking(questions, evidence) | {"questions_sampled": questions.height}
    unknown = loaded.counts.get("evidence_unresolved", 0) - loaded.evidence["passage_id"].null_count()
    counts["evidence_unresolved"] += max(unknown, 0)
    return Questions(questions, evidence, counts)


def shuffle_passages(passages: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The passages of each document in random order, a control for methods that use position."""
    order = passages.sort("doc_id", "position").with_columns(
        draw=pl.Series(np.random.default_rng(seed).permutation(passages.height))
    )
    shuffled = order.sort("doc_id", "draw").with_columns(
        position=pl.int_range(pl.len(), dtype=pl.Int32).over("doc_id").cast(passages.schema["position"])
    )
    return shuffled.select(passages.columns)
