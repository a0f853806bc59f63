"""LongMemEval: 500 questions, each with a history of its own, a list of dated sessions of a user with an assistant.

Passages follow the official retrieval protocol, which indexes what the user says and nothing else: at the level
`turn` each user turn, at the level `session` the user turns of a session joined by a blank. Gold is what is marked
`has_answer` in a session that `answer_session_ids` names. A mark on an assistant's turn is no passage at either
level: it stays as text, unresolved. Each history is a group, in the order of its dates, equal ones as in the file.

Upstream's session ids contain the word "answer" where a session holds the evidence, and repeat within a history.
So nothing made here carries one: a passage is QUESTION:SESSION[:TURN], places in the record from 0.

A question whose id ends in `_abs` has no answer in its history. It is of type `abstention` and has no evidence, though
its record marks some. The answer of a preference question is a rubric, that of an abstention an explanation: both
types are `unanswerable` in conf/dataset. A question may be dated before its evidence; that is counted, and nothing is
left out for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.datasets.problems import Problems
from secateur.datasets.reading import check_fields, read_records
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

CORPUS_FILES, QUESTION_FILES = ("histories",), ("histories",)

Level = Literal["turn", "session"]
Turn = Mapping[str, Any]

DATE = re.compile(r"\d{4}/\d\d/\d\d \([A-Z][a-z]{2}\) \d\d:\d\d")  # in this form, the order of texts is that of time
ABSTENTION = "_abs"
FIELDS = {
    "question_id": (str,),
    "question_type": (str,),
    "question": (str,),
    "answer": (str, int, float),
    "question_date": (str,),
    "haystack_session_ids": (list,),
    "haystack_dates": (list,),
    "haystack_sessions": (list,),
    "answer_session_ids": (list,),
}
PARALLEL = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
TURN_FIELDS = {"role": (str,), "content": (str,)}
ROLES = ("user", "assistant")
FIX = "compare it with longmemeval_s_cleaned.json of the registry"


@dataclass(frozen=True)
class Settings:
    """At which level."""

    level: Level = key("what a passage is: a user's turn, or the user's turns of a session", default="turn")


@dataclass(frozen=True)
class Session:
    """One session of a history: its place in the record, and whether it is named as holding the evidence."""

    place: int
    date: str
    gold: bool
    turns: list[Turn]

    def user_turns(self) -> list[tuple[int, str]]:
        """(place in the session, text) of what the user says, without empty turns."""
        said = ((n, turn["content"]) for n, turn in enumerate(self.turns) if turn["role"] == "user")
        return [(n, text) for n, text in said if text.strip()]

    def marks(self) -> list[tuple[int, Turn]]:
        """(place, turn) of the turns that hold evidence."""
        marked = [(n, turn) for n, turn in enumerate(self.turns) if turn.get("has_answer")]
        return [(n, turn) for n, turn in marked if self.gold and turn["content"].strip()]


def load_corpus(files: Mapping[str, Path], settings: Settings) -> Corpus:
    """One passage for each user turn, or for each session with one; a group and a document for each question.

    Raises SecateurError for files of another form, with all problems of the file, each with its record.
    """
    records = _records(files["histories"])
    rows = [row for record in records for row in _passages(record, settings.level)]
    return Corpus(passages_frame(rows), {"passages": len(rows), "documents": len(records)} | _losses(records))


def load_questions(asked: Asked, files: Mapping[str, Path], passages: pl.DataFrame, settings: Settings) -> Questions:
    """The questions, and their evidence at the level of the passages.

    Raises SecateurError for files of another form, and for questions without passages.
    """
    records = _records(files["histories"])
    known = set(passages["group_id"])
    missing = [record["question_id"] for record in records if record["question_id"] not in known]
    if missing:
        raise SecateurError(
            f"{files['histories']}: {len(missing)} questions (e.g. {missing[0]}) without passages. "
            "Fix: load the corpus and the questions from the same file"
        )
    found = {record["question_id"]: _evidence(record, settings.level) for record in records}
    rows = [_question(asked.dataset, n, record) for n, record in enumerate(records)]
    evidence = [row for name, pairs in found.items() for row in evidence_rows(name, pairs)]
    frames = questions_frame(rows), evidence_frame(evidence)
    counts = question_counts(*frames, sum(map(len, found.values())))
    return Questions(*frames, counts | _doubts(records, found))


def _question(dataset: str, position: int, record: Turn) -> dict[str, Any]:
    name = record["question_id"]
    return {
        "question_id": name,
        "group_id": name,
        "cluster_id": name,
        "position": position,
        "text": record["question"],
        "answer": str(record["answer"]),
        "type": "abstention" if _abstains(record) else record["question_type"],
        "split": split_of(dataset, name),
    }


def _abstains(record: Turn) -> bool:
    return record["question_id"].endswith(ABSTENTION)


def _sessions(record: Turn) -> list[Session]:
    """The sessions of a history in the order of their dates."""
    named = set(record["answer_session_ids"])
    listed = zip(*(record[key] for key in PARALLEL), strict=True)
    sessions = [Session(n, date, name in named, turns) for n, (name, date, turns) in enumerate(listed)]
    return sorted(sessions, key=lambda session: session.date)


def _passages(record: Turn, level: Level) -> Iterator[dict[str, Any]]:
    """One `passages` row for each unit of the level, in reading order."""
    name, position = record["question_id"], 0
    for session in _sessions(record):
        said = session.user_turns()
        units = said if level == "turn" else [(None, " ".join(text for _, text in said))] if said else []
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


def _evidence(record: Turn, level: Level) -> list[tuple[str, str | None]]:
    """(text, passage id) of each marked turn; no id for an assistant's. None for an abstention."""
    if _abstains(record):
        return []
    name = record["question_id"]
    return [
        (turn["content"], _passage_id(name, session.place, n if level == "turn" else None))
        if turn["role"] == "user"
        else (turn["content"], None)
        for session in _sessions(record)
        for n, turn in session.marks()
    ]


# --- what is counted -----------------------------------------------------------------------------


def _losses(records: list[Turn]) -> dict[str, int]:
    """Traps of the histories: what is no passage, and what is not as one would expect."""
    sessions = [session for record in records for session in _sessions(record)]
    turns = [turn for session in sessions for turn in session.turns]
    return {
        "sessions": len(sessions),
        "sessions_empty": sum(not session.turns for session in sessions),
        "sessions_without_user_turn": sum(not session.user_turns() for session in sessions),
        "sessions_begun_by_assistant": sum(s.turns[0]["role"] == "assistant" for s in sessions if s.turns),
        "session_ids_repeated": sum(len(r[PARALLEL[0]]) - len(set(r[PARALLEL[0]])) for r in records),
        "histories_reordered": sum(r["haystack_dates"] != sorted(r["haystack_dates"]) for r in records),
        "assistant_turns": sum(turn["role"] == "assistant" for turn in turns),
        "user_turns_empty": sum(turn["role"] == "user" and not turn["content"].strip() for turn in turns),
    }


def _doubts(records: list[Turn], found: Mapping[str, list[tuple[str, str | None]]]) -> dict[str, int]:
    """Traps of the questions: which have no target, and what their records state besides."""
    asked = [record for record in records if not _abstains(record)]
    named = [record for record in asked if not set(record["answer_session_ids"]) <= set(record[PARALLEL[0]])]
    late = [r for r in asked if any(s.date > r["question_date"] for s in _sessions(r) if s.marks())]
    return {
        "questions_abstention": len(records) - len(asked),
        "questions_abstention_with_marks": sum(
            any(session.marks() for session in _sessions(record)) for record in records if _abstains(record)
        ),
        "questions_without_target": sum(all(p is None for _, p in found[r["question_id"]]) for r in asked),
        "questions_before_their_evidence": len(late),
        "questions_with_answer_session_missing": len(named),
        "answers_that_are_numbers": sum(not isinstance(record["answer"], str) for record in records),
    }


# --- reading -------------------------------------------------------------------------------------


def _records(path: Path) -> list[dict[str, Any]]:
    """The records of one file, checked throughout."""
    records = read_records(path, FIELDS)
    problems, first = Problems(path, FIX), {}
    for n, record in enumerate(records):
        name = record["question_id"]
        where = f"object {n} ({name})"
        clauses = _wrong_record(record) or _wrong_sessions(record)
        if name in first:
            clauses.append(f"question_id is already used by object {first[name]}")
        first.setdefault(name, n)
        for clause in clauses:
            problems.add(where, clause)
    problems.stop()
    return records


def _wrong_record(record: Turn) -> list[str]:
    """What is wrong with a record's own fields, each in a clause."""
    found = [f"{key} is empty" for key in ("question_id", "question") if not record[key].strip()]
    lengths = {key: len(record[key]) for key in PARALLEL}
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{key} {length}" for key, length in lengths.items())
        return [*found, f"lists of different lengths: {stated}"]
    for field in ("haystack_session_ids", "answer_session_ids"):
        found += [
            f"{field} holds {name!r:.80}, texts are needed" for name in record[field] if not isinstance(name, str)
        ]
    dates = [("question_date", record["question_date"])]
    dates += [(f"haystack_dates[{n}]", date) for n, date in enumerate(record["haystack_dates"])]
    return found + [
        f"{where} must be like '2023/05/20 (Sat) 02:21', found {date!r:.80}"
        for where, date in dates
        if not (isinstance(date, str) and DATE.fullmatch(date))
    ]


def _wrong_sessions(record: Turn) -> list[str]:
    """What is wrong with a record's turns, each in a clause."""
    found = []
    for n, session in enumerate(record["haystack_sessions"]):
        if not isinstance(session, list):
            found.append(f"session {n} must be a list of turns, found {session!r:.80}")
            continue
        for i, turn in enumerate(session):
            found += [f"session {n} turn {i}: {clause}" for clause in check_fields(turn, TURN_FIELDS) or _wrong(turn)]
    return found


def _wrong(turn: Turn) -> list[str]:
    found = [] if turn["role"] in ROLES else [f"role must be {' or '.join(ROLES)}, found {turn['role']!r:.80}"]
    mark = turn.get("has_answer", False)
    return found if isinstance(mark, bool) else [*found, f"has_answer must be true or false, found {mark!r:.80}"]
