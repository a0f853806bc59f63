"""LongMemEval: 500 questions, each with a history, a list of dated sessions of a user with an assistant.

Passages follow the official retrieval protocol, which indexes the user's turns alone: at the level `turn` each user
turn, at the level `session` the user turns of a session joined by a space. Gold is what is marked `has_answer` in a
session that `answer_session_ids` names. A marked turn of the assistant is no passage at either level: it stays as
unresolved text. Each history is a group, in the order of its dates, equal dates as in the file.

Upstream's session ids contain the word "answer" where a session holds the evidence, and repeat within a history.
Passage ids therefore avoid them: a passage is QUESTION:SESSION[:TURN], places in the record from 0.

A question whose id ends in `_abs` has no answer in its history. Its type is `abstention` and it has no evidence, though
its record marks some. The answer of a preference question is a rubric, that of an abstention an explanation: both types
are `unanswerable` in conf/dataset. A question may be dated before its evidence; that is counted and nothing is dropped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from secateur.core.fields import key
from secateur.datasets.reading import STRING, Forms, Problems, form_problems, of_type, read_records
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

CORPUS_FILES, QUESTION_FILES = ("histories",), ("histories",)

Level = Literal["turn", "session"]
Record = Mapping[str, Any]

DATE = re.compile(r"\d{4}/\d\d/\d\d \([A-Z][a-z]{2}\) \d\d:\d\d")  # texts of this form sort by time
ABSTENTION = "_abs"
SESSION_IDS = "haystack_session_ids"
PARALLEL = (SESSION_IDS, "haystack_dates", "haystack_sessions")  # lists with one entry for each session
RECORD: Forms = {
    **dict.fromkeys(("question_id", "question_type", "question"), STRING),
    "answer": of_type(str, int, float),
    "question_date": STRING,
    **dict.fromkeys((*PARALLEL, "answer_session_ids"), of_type(list)),
}
ROLES = ("user", "assistant")
TURN: Forms = {"role": STRING, "content": STRING}
FIX = "compare it with longmemeval_s_cleaned.json of the registry"


@dataclass(frozen=True)
class Settings:
    """The unit of retrieval."""

    level: Level = key("what a passage is: a user's turn, or the user's turns of a session", default="turn")


@dataclass(frozen=True)
class Session:
    """One session of a history. place: its index in the record; gold: whether it is named as holding evidence."""

    place: int
    date: str
    gold: bool
    turns: list[Record]

    def user_turns(self) -> list[tuple[int, str]]:
        """(place in the session, text) of the user's turns that are not empty."""
        return [
            (n, turn["content"])
            for n, turn in enumerate(self.turns)
            if turn["role"] == "user" and turn["content"].strip()
        ]

    def marked_turns(self) -> list[tuple[int, Record]]:
        """(place, turn) of the turns that hold evidence."""
        if not self.gold:
            return []
        return [(n, turn) for n, turn in enumerate(self.turns) if turn.get("has_answer") and turn["content"].strip()]


def load_corpus(files: Files, settings: Settings) -> Corpus:
    """One passage for each user turn, or for each session with a user turn; each question is a group and a document.

    Raises SecateurError for files of another form, with all problems of the file, each with its record.
    """
    records = _records(files["histories"])
    rows = [row for record in records for row in _passages(record, settings.level)]
    return Corpus(passages_frame(rows), {"passages": len(rows), "documents": len(records)} | _corpus_counts(records))


def load_questions(request: Request, files: Files, passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions, and their evidence at the level of the passages.

    Raises SecateurError for files of another form, and for questions without passages.
    """
    records = _records(files["histories"])
    check_groups(files["histories"], {record["question_id"]: record["question_id"] for record in records}, passages)
    pairs_of = {record["question_id"]: _evidence(record, settings.level) for record in records}
    rows = [
        {
            **dict.fromkeys(("question_id", "group_id", "cluster_id"), record["question_id"]),
            "text": record["question"],
            "answer": str(record["answer"]),
            "type": "abstention" if _abstains(record) else record["question_type"],
        }
        for record in records
    ]
    evidence = [row for name, pairs in pairs_of.items() for row in evidence_rows(name, pairs)]
    entries = sum(map(len, pairs_of.values()))
    return build_questions(request.dataset, rows, evidence, entries, **_question_counts(records, pairs_of))


def _abstains(record: Record) -> bool:
    return record["question_id"].endswith(ABSTENTION)


def _sessions(record: Record) -> list[Session]:
    """The sessions of a history in the order of their dates."""
    gold = set(record["answer_session_ids"])
    parallel = zip(*(record[key] for key in PARALLEL), strict=True)
    sessions = [Session(n, date, name in gold, turns) for n, (name, date, turns) in enumerate(parallel)]
    return sorted(sessions, key=lambda session: session.date)


def _passages(record: Record, level: Level) -> Iterator[dict[str, Any]]:
    """One `passages` row for each unit of the level, in reading order."""
    name, position = record["question_id"], 0
    for session in _sessions(record):
        units = session.user_turns()
        if level == "session" and units:
            units = [(None, " ".join(text for _, text in units))]
        for turn, text in units:
            yield {
                "passage_id": _passage_id(name, session.place, turn),
                "doc_id": name,
                "group_id": name,
                "session_id": f"session_{session.place}",
                "position": position,
                "text": text,
                "speaker": "user",
                "date": session.date,
            }
            position += 1


def _passage_id(question_id: str, session: int, turn: int | None) -> str:
    return f"{question_id}:{session}" if turn is None else f"{question_id}:{session}:{turn}"


def _evidence(record: Record, level: Level) -> list[Pair]:
    """Evidence of a question: its marked turns, an assistant's without passage id; empty for an abstention."""
    if _abstains(record):
        return []
    name = record["question_id"]
    return [
        (turn["content"], _passage_id(name, session.place, n if level == "turn" else None))
        if turn["role"] == "user"
        else (turn["content"], None)
        for session in _sessions(record)
        for n, turn in session.marked_turns()
    ]


# --- counts --------------------------------------------------------------------------------------


def _corpus_counts(records: list[Record]) -> dict[str, int]:
    """Peculiarities of the histories: turns without a passage, and sessions of an unexpected form."""
    sessions = [session for record in records for session in _sessions(record)]
    turns = [turn for session in sessions for turn in session.turns]
    return {
        "sessions": len(sessions),
        "sessions_empty": sum(not session.turns for session in sessions),
        "sessions_without_user_turn": sum(not session.user_turns() for session in sessions),
        "sessions_begun_by_assistant": sum(s.turns[0]["role"] == "assistant" for s in sessions if s.turns),
        "session_ids_repeated": sum(len(r[SESSION_IDS]) - len(set(r[SESSION_IDS])) for r in records),
        "histories_reordered": sum(r["haystack_dates"] != sorted(r["haystack_dates"]) for r in records),
        "assistant_turns": sum(turn["role"] == "assistant" for turn in turns),
        "user_turns_empty": sum(turn["role"] == "user" and not turn["content"].strip() for turn in turns),
    }


def _question_counts(records: list[Record], pairs_of: Mapping[str, list[Pair]]) -> dict[str, int]:
    """Peculiarities of the questions: abstentions, targets that are missing, and doubtful records."""
    abstentions = [record for record in records if _abstains(record)]
    others = [record for record in records if not _abstains(record)]
    return {
        "questions_abstention": len(abstentions),
        "questions_abstention_with_marks": sum(any(s.marked_turns() for s in _sessions(r)) for r in abstentions),
        "questions_without_target": sum(all(p is None for _, p in pairs_of[r["question_id"]]) for r in others),
        "questions_before_their_evidence": sum(
            any(s.date > r["question_date"] for s in _sessions(r) if s.marked_turns()) for r in others
        ),
        "questions_with_answer_session_missing": sum(
            not set(r["answer_session_ids"]) <= set(r[SESSION_IDS]) for r in others
        ),
        "answers_that_are_numbers": sum(not isinstance(record["answer"], str) for record in records),
    }


# --- reading -------------------------------------------------------------------------------------


def _records(path: Path) -> list[dict[str, Any]]:
    """The records of a file, checked throughout."""
    records = read_records(path, RECORD)
    problems, first = Problems(path, FIX), {}
    for n, record in enumerate(records):
        name = record["question_id"]
        clauses = _record_faults(record) or _turn_faults(record)
        if name in first:
            clauses.append(f"question_id is already used by object {first[name]}")
        first.setdefault(name, n)
        problems.add(f"object {n} ({name})", *clauses)
    problems.stop()
    return records


def _record_faults(record: Record) -> list[str]:
    """Clauses on the fields of a record."""
    clauses = [f"{key} is empty" for key in ("question_id", "question") if not record[key].strip()]
    lengths = {key: len(record[key]) for key in PARALLEL}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{key} {length}" for key, length in lengths.items())
        return [*clauses, f"lists of different lengths: {stated}"]
    for field in (SESSION_IDS, "answer_session_ids"):
        clauses += [
            f"{field} holds {name!r:.80}, texts are needed" for name in record[field] if not isinstance(name, str)
        ]
    dates = {f"haystack_dates[{n}]": date for n, date in enumerate(record["haystack_dates"])}
    return clauses + [
        f"{where} must be like '2023/05/20 (Sat) 02:21', found {date!r:.80}"
        for where, date in ({"question_date": record["question_date"]} | dates).items()
        if not (isinstance(date, str) and DATE.fullmatch(date))
    ]


def _turn_faults(record: Record) -> list[str]:
    """Clauses on the turns of a record."""
    clauses = []
    for n, session in enumerate(record["haystack_sessions"]):
        if not isinstance(session, list):
            clauses.append(f"session {n} must be a list of turns, found {session!r:.80}")
            continue
        for i, turn in enumerate(session):
            faults = form_problems(turn, TURN, extra=True) or _label_faults(turn)
            clauses += [f"session {n} turn {i}: {fault}" for fault in faults]
    return clauses


def _label_faults(turn: Record) -> list[str]:
    """Clauses on the role and the mark of a turn."""
    role, mark = turn["role"], turn.get("has_answer", False)
    clauses = [] if role in ROLES else [f"role must be {' or '.join(ROLES)}, found {role!r:.80}"]
    marks = isinstance(mark, int | float | None) and (mark or 0) in (0, 1)  # null and numbers: what pandas writes
    return clauses + [f"has_answer must be true or false, found {mark!r:.80}"] * (not marks)
