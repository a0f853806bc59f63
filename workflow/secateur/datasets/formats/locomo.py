"""LoCoMo: long conversations in sessions, with questions whose evidence names dialogue turns."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.core.errors import SecateurError
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, read_json
from secateur.datasets.schema import (
    Asked,
    Corpus,
    Questions,
    evidence_frame,
    evidence_rows,
    passages_frame,
    question_counts,
    questions_frame,
    split_of,
)

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]

CORPUS_FILES, QUESTION_FILES = ("conversations",), ("conversations",)

SESSION = re.compile(r"session_(\d+)")
SESSION_DATE = re.compile(r"session_(\d+)_date_time")
TURN = re.compile(r"D:?(\d+):(\d+)")  # also finds the ids in "D8:6; D9:17", "D:11:26" and "D30:05"
CANONICAL = re.compile(r"D[1-9]\d*:[1-9]\d*")

TURN_FIELDS = {"dia_id": (str,), "speaker": (str,), "text": (str,)}
QUESTION_FIELDS = {
    "question": (str,),
    "answer": (str, int, float, type(None)),  # a year may be a number; category 5 has no answer
    "evidence": (list, type(None)),
    "category": (int, str),
}
FIX = "compare it with locomo10.json of the registry"


@dataclass(frozen=True)
class Conversation:
    """One sample of either layout: where it came from, its sessions' keys, and its questions."""

    path: Path
    sample_id: str
    body: Mapping[str, Any]
    qa: list[Any]

    @property
    def sessions(self) -> list[int]:
        """Numbers of the sessions that took place; a date without a session is none."""
        numbers = (SESSION.fullmatch(key) for key in self.body)
        return sorted(int(n[1]) for n in numbers if n and isinstance(self.body[n[0]], list))

    @property
    def dated(self) -> set[int]:
        """Numbers of the sessions that have a date, whether they took place or not."""
        return {int(n[1]) for n in map(SESSION_DATE.fullmatch, self.body) if n}


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """One passage for each turn, its text without speaker, date and caption.

    Raises SecateurError for files of another form, empty or repeated turns.
    """
    conversations = list(_conversations(files["conversations"]))
    rows = [row for conversation in conversations for row in _turns(conversation)]
    counts = {
        "passages": len(rows),
        "documents": len(conversations),
        "sessions": sum(len(c.sessions) for c in conversations),
        "session_dates_without_session": sum(len(c.dated - set(c.sessions)) for c in conversations),
    }
    return Corpus(passages_frame(rows), counts)


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """Every question of every conversation, with the turns that its evidence strings name.

    Raises SecateurError for files of another form, and questions about conversations without passages.
    """
    conversations = list(_conversations(files["conversations"]))
    texts = dict(passages.select("passage_id", "text").iter_rows())
    known = set(passages["group_id"])
    missing = [c.sample_id for c in conversations if c.sample_id not in known]
    if missing:
        raise SecateurError(
            f"{files['conversations']}: questions about {', '.join(missing)}, without passages. "
            "Fix: load the corpus and the questions from the same files"
        )
    questions, evidence, given, repaired = [], [], 0, 0
    for conversation in conversations:
        for n, qa in enumerate(_questions(conversation)):
            question_id = f"{conversation.sample_id}:q{n}"
            strings = [str(string) for string in qa.get("evidence") or []]
            found = [pair for string in strings for pair in _resolved(conversation.sample_id, string, texts)]
            evidence += evidence_rows(question_id, found)
            given += len(found)
            repaired += sum(1 for string in strings if not CANONICAL.fullmatch(string))
            questions.append(
                {
                    "question_id": question_id,
                    "group_id": conversation.sample_id,
                    "cluster_id": conversation.sample_id,
                    "position": len(questions),
                    "text": qa["question"],
                    "answer": None if qa.get("answer") is None else str(qa["answer"]),
                    "type": str(qa["category"]),
                    "split": split_of(asked.dataset, question_id),
                }
            )
    frames = questions_frame(questions), evidence_frame(evidence)
    return Questions(*frames, question_counts(*frames, given) | {"evidence_strings_repaired": repaired})


def _resolved(sample_id: str, string: str, texts: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """(turn's text, passage id) for each turn that an evidence string names; (the string, None) for what is no turn."""
    names = [f"{sample_id}:D{int(session)}:{int(turn)}" for session, turn in TURN.findall(string)]
    return [(texts[name], name) if name in texts else (string, None) for name in names] or [(string, None)]


def _turns(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """One `passages` row for each turn, in the order of the sessions."""
    problems, first, position = Problems(conversation.path, FIX), {}, 0
    for session in conversation.sessions:
        for n, turn in enumerate(conversation.body[f"session_{session}"]):
            where = f"{conversation.sample_id} session_{session} turn {n}"
            clauses = check_fields(turn, TURN_FIELDS) or _wrong_turn(turn, first)
            for clause in clauses:
                problems.add(where, clause)
            if clauses:
                continue
            first[turn["dia_id"]] = where
            date = conversation.body.get(f"session_{session}_date_time")
            yield {
                "passage_id": f"{conversation.sample_id}:{turn['dia_id']}",
                "doc_id": conversation.sample_id,
                "group_id": conversation.sample_id,
                "session_id": f"session_{session}",
                "position": position,
                "text": turn["text"],
                "speaker": turn["speaker"],
                "date": None if date is None else str(date),
            }
            position += 1
    problems.stop()


def _wrong_turn(turn: Mapping[str, str], first: Mapping[str, str]) -> list[str]:
    empty = [] if turn["text"].strip() else ["text is empty"]
    name = turn["dia_id"]
    return empty + ([f"dia_id {name!r} is already used in {first[name]}"] if name in first else [])


def _questions(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation's questions, checked."""
    problems = Problems(conversation.path, FIX)
    for n, qa in enumerate(conversation.qa):
        clauses = check_fields(qa, QUESTION_FIELDS)
        if not clauses and not qa["question"].strip():
            clauses = ["question is empty"]
        for clause in clauses:
            problems.add(f"{conversation.sample_id} question {n}", clause)
    problems.stop()
    return conversation.qa


def _conversations(path: Path) -> Iterator[Conversation]:
    """The samples of one file (a list or a single sample), or of a folder of such files in order of name."""
    files = sorted(path.glob("*.json"), key=_natural) if path.is_dir() else [path]
    if not files:
        raise SecateurError(f"{path}: no .json files here. Fix: name locomo10.json or a folder of conversations")
    seen: dict[str, Path] = {}
    for file in files:
        content = read_json(file)
        samples = content if isinstance(content, list) else [content]
        if not samples:
            raise SecateurError(f"{file}: no conversation. Fix: {FIX}")
        for sample in samples:
            conversation = _conversation(file, sample)
            if conversation.sample_id in seen:
                first = seen[conversation.sample_id]
                raise SecateurError(
                    f"{file}: conversation {conversation.sample_id} is already in {first}. Fix: remove one"
                )
            seen[conversation.sample_id] = file
            yield conversation


def _conversation(path: Path, sample: Any) -> Conversation:
    """A sample whose sessions stand under `conversation`, or, in the flat layout, beside its questions."""
    body = sample.get("conversation", sample) if isinstance(sample, dict) else None
    if not isinstance(body, dict):
        raise SecateurError(f"{path}: expected a conversation, found {sample!r:.80}. Fix: {FIX}")
    conversation = Conversation(path, str(sample.get("sample_id", path.stem)), body, sample.get("qa") or [])
    if not conversation.sessions:
        raise SecateurError(f"{path}: {conversation.sample_id} has no session_1, session_2, ... Fix: {FIX}")
    if not isinstance(conversation.qa, list):
        raise SecateurError(f"{path}: qa of {conversation.sample_id} is no list. Fix: {FIX}")
    return conversation


def _natural(path: Path) -> list[int | str]:
    """Sort key by which 2.json stands before 10.json."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]
