"""LoCoMo: long conversations in sessions, with questions whose evidence names dialogue turns."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from secateur.config.plugins import NoSettings as Settings
from secateur.datasets.reading import (
    STRING,
    Forms,
    Problems,
    Unreadable,
    form_problems,
    of_type,
    read_records,
    unique_ids,
)
from secateur.datasets.schema import (
    Corpus,
    Files,
    Pair,
    Questions,
    Request,
    build_questions,
    check_groups,
    evidence_rows,
    passages_frame,
)

CORPUS_FILES, QUESTION_FILES = ("conversations",), ("conversations",)

SESSION = re.compile(r"session_(\d+)")
SESSION_DATE = re.compile(r"session_(\d+)_date_time")
TURN = re.compile(r"D:?(\d+):(\d+)")  # also finds the ids in "D8:6; D9:17", "D:11:26" and "D30:05"
CANONICAL = re.compile(r"D[1-9]\d*:[1-9]\d*")

SAMPLE: Forms = {"sample_id": STRING, "conversation": of_type(dict), "qa": of_type(list, type(None))}
TURN_FORM: Forms = {"dia_id": STRING, "speaker": STRING, "text": STRING}
QUESTION: Forms = {
    "question": STRING,
    "answer": of_type(str, int, float, type(None)),  # a year may be a number; category 5 has no answer
    "evidence": of_type(list, str, type(None)),
    "category": of_type(int, str),
}
FIX = "compare it with locomo10.json of the registry"


@dataclass(frozen=True)
class Conversation:
    """A conversation: its file, the object with its sessions, and its questions."""

    path: Path
    sample_id: str
    body: Mapping[str, Any]
    qa: list[Any]

    @property
    def sessions(self) -> list[int]:
        """Numbers of the sessions that took place; a date without a session is no session."""
        numbers = (SESSION.fullmatch(key) for key in self.body)
        return sorted(int(n[1]) for n in numbers if n and isinstance(self.body[n[0]], list))

    @property
    def dated(self) -> set[int]:
        """Numbers of the sessions with a date, whether they took place or not."""
        return {int(n[1]) for n in map(SESSION_DATE.fullmatch, self.body) if n}


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """One passage for each turn, its text without speaker, date and caption.

    Raises SecateurError for files of another form, empty or repeated turns.
    """
    conversations = _conversations(files["conversations"])
    rows = [row for conversation in conversations for row in _turns(conversation)]
    counts = {
        "passages": len(rows),
        "documents": len(conversations),
        "sessions": sum(len(c.sessions) for c in conversations),
        "session_dates_without_session": sum(len(c.dated - set(c.sessions)) for c in conversations),
    }
    return Corpus(passages_frame(rows), counts)


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """Every question of every conversation, with the turns that its evidence strings name.

    Raises SecateurError for files of another form, and for questions about conversations without passages.
    """
    texts = dict(passages.select("passage_id", "text").iter_rows())
    rows, evidence, entries, repaired = [], [], 0, 0
    for conversation in _conversations(files["conversations"]):
        for n, qa in enumerate(_questions(conversation)):
            name = f"{conversation.sample_id}:q{n}"
            named = qa.get("evidence") or []
            strings = [str(string) for string in ([named] if isinstance(named, str) else named)]
            pairs = [pair for string in strings for pair in _resolve(conversation.sample_id, string, texts)]
            evidence += evidence_rows(name, pairs)
            entries += len(pairs)
            repaired += sum(not CANONICAL.fullmatch(string) for string in strings)
            rows.append(
                {
                    "question_id": name,
                    "group_id": conversation.sample_id,
                    "cluster_id": conversation.sample_id,
                    "text": qa["question"],
                    "answer": None if qa.get("answer") is None else str(qa["answer"]),
                    "type": str(qa["category"]),
                }
            )
    check_groups(files["conversations"], {row["question_id"]: row["group_id"] for row in rows}, passages)
    return build_questions(request.dataset, rows, evidence, entries, evidence_strings_repaired=repaired)


def _resolve(sample_id: str, string: str, texts: Mapping[str, str]) -> list[Pair]:
    """Evidence of one string: each turn that it names; the string itself for an unknown turn, or if it names none."""
    names = [f"{sample_id}:D{int(session)}:{int(turn)}" for session, turn in TURN.findall(string)]
    return [(texts[name], name) if name in texts else (string, None) for name in names] or [(string, None)]


def _turns(conversation: Conversation) -> Iterator[dict[str, Any]]:
    """One `passages` row for each turn, in the order of the sessions."""
    problems, first = Problems(conversation.path, FIX), {}
    for session in conversation.sessions:
        date = conversation.body.get(f"session_{session}_date_time")
        for n, turn in enumerate(conversation.body[f"session_{session}"]):
            where = f"{conversation.sample_id} session_{session} turn {n}"
            clauses = form_problems(turn, TURN_FORM, extra=True)
            if not clauses and not turn["text"].strip():
                clauses = ["text is empty"]
            if not clauses and turn["dia_id"] in first:
                clauses = [f"dia_id {turn['dia_id']!r} is already used in {first[turn['dia_id']]}"]
            problems.add(where, *clauses)
            if clauses:
                continue
            yield {
                "passage_id": f"{conversation.sample_id}:{turn['dia_id']}",
                "doc_id": conversation.sample_id,
                "group_id": conversation.sample_id,
                "session_id": f"session_{session}",
                "position": len(first),
                "text": turn["text"],
                "speaker": turn["speaker"],
                "date": None if date is None else str(date),
            }
            first[turn["dia_id"]] = where
    problems.stop()


def _questions(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation's questions, checked."""
    problems = Problems(conversation.path, FIX)
    for n, qa in enumerate(conversation.qa):
        clauses = form_problems(qa, QUESTION, extra=True)
        if not clauses and not qa["question"].strip():
            clauses = ["question is empty"]
        problems.add(f"{conversation.sample_id} question {n}", *clauses)
    problems.stop()
    return conversation.qa


def _conversations(path: Path) -> list[Conversation]:
    """The conversations of a file, each with a session; ids are unique."""
    samples = read_records(path, SAMPLE)
    unique_ids(path, [sample["sample_id"] for sample in samples])
    conversations = [Conversation(path, s["sample_id"], s["conversation"], s.get("qa") or []) for s in samples]
    problems = Problems(path, FIX)
    for conversation in conversations:
        if not conversation.sessions:
            problems.add(conversation.sample_id, "has no session_1, session_2, ...")
        for key, value in conversation.body.items():
            if key.startswith("session_") and isinstance(value, Unreadable):
                problems.add(conversation.sample_id, f"{key}: {value}")
    problems.stop()
    return conversations
