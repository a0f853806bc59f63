"""Contexts made elsewhere: a JSONL file, one context a line, to the rows of the table `contexts`.

    {"question_id": "q1", "text": "As it is sent.", "passages": ["p3"], "budget": 256}

`text` is the context, or a list of its parts, which are sent a line each. `passages` says where the text comes from: the
one passage of a text, or one (or null) for each part of a list. Several passages of one text are no provenance: what
is measured under it is left out. `budget` is the tokens that the context is allowed; a context that names none counts
for each budget it fits, the budget of answers at least.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.contexts.piece import Context, Piece, rows_of, text_of
from secateur.contexts.table import IMPORTED, context_rows
from secateur.core.errors import nearest
from secateur.datasets.problems import Problems
from secateur.datasets.reading import TEXT, Forms, form_problems, json_lines
from secateur.models.word_pieces import Counter

__all__ = ["Known", "imported_rows"]

LINE: Forms = {
    "question_id": TEXT,
    "text": ("a text that is not empty, or a list of them", lambda v: TEXT[1](v) or _list_of(v, TEXT[1])),
    "passages": ("a list of passage ids, or null", lambda v: v is None or v == [] or _list_of(v, _id_or_null)),
    "budget": ("a number of tokens of at least 1, or null", lambda v: v is None or (type(v) is int and v > 0)),
}


def _list_of(value: Any, holds) -> bool:
    return isinstance(value, list) and bool(value) and all(map(holds, value))


def _id_or_null(value: Any) -> bool:
    return value is None or TEXT[1](value)


@dataclass(frozen=True)
class Known:
    """What lines are read against.

    texts: each passage as a reader gets it; budgets: those that are measured; answering: the one of answers.
    """

    questions: frozenset[str]
    texts: Mapping[str, str]
    count: Counter
    budgets: Sequence[int]
    answering: int


@dataclass(frozen=True)
class _Line:
    """A well-formed line."""

    where: str
    question: str
    pieces: list[Piece]
    budget: int | None


def imported_rows(path: Path, known: Known) -> list[tuple]:
    """The rows of the table `contexts`. Raises SecateurError with all problems of the file, each with its line."""
    keys = f"one JSON object a line with question_id and text; allowed keys: {', '.join(LINE)}"
    problems = Problems(path, f"{keys}; ids as in the data set, texts within their budgets (docs/plugins.md)")
    lines = list(_lines(path, known, problems))
    if not lines and not problems.found:
        problems.add("the file", "is empty")
    made = [Context(rows := rows_of(line.pieces), _tokens(rows, known.count)) for line in lines]
    places: dict[tuple[str, int], tuple[str, Context]] = {}
    for line, context in zip(lines, made, strict=True):
        own = [(line.question, budget) for budget in _budgets(line, context.tokens, known, problems)]
        taken = next((place for place in own if place in places), None)
        if taken:
            said = f"question {line.question!r} has a context of budget {taken[1]} in {places[taken][0]} already"
            problems.add(line.where, said)
        places = dict.fromkeys(own, (line.where, context)) | places
    problems.stop()
    return [
        row
        for (question, budget), (_, context) in places.items()
        for row in context_rows(question, IMPORTED, False, IMPORTED, {budget: context})
    ]


def _tokens(rows, count: Counter) -> int:
    return int(count([text_of(rows)])[0])


def _lines(path: Path, known: Known, problems: Problems) -> Iterator[_Line]:
    """The lines that hold what they should; what is wrong with the others goes to `problems`."""
    for where, value in json_lines(path, problems):
        clauses = form_problems(value, LINE) or _unresolved(value, known)
        for clause in clauses:
            problems.add(where, clause)
        if not clauses:
            yield _Line(where, value["question_id"], _pieces(value, known.texts), value.get("budget"))


def _unresolved(value: dict[str, Any], known: Known) -> list[str]:
    """What a line names and the data set does not have, each in a clause."""
    question, text, ids = value["question_id"], value["text"], value.get("passages") or []
    found = (
        [] if question in known.questions else [f"unknown question {question!r}{nearest(question, known.questions)}"]
    )
    found += [f"passage {p!r} does not resolve" for p in ids if p is not None and p not in known.texts]
    if isinstance(text, list) and ids and len(ids) != len(text):
        found.append(f"text has {len(text)} parts, passages names {len(ids)}")
    return found


def _pieces(value: dict[str, Any], texts: Mapping[str, str]) -> list[Piece]:
    """The parts of a context, each with its passage where one is known."""
    text, ids = value["text"], value.get("passages") or []
    parts = text if isinstance(text, list) else [text]
    ids = ids if len(ids) == len(parts) else [None] * len(parts)
    return [Piece(p, part, whole=p is not None and texts[p] == part) for part, p in zip(parts, ids, strict=True)]


def _budgets(line: _Line, tokens: int, known: Known, problems: Problems) -> list[int]:
    """The budgets that a context counts for; why it counts for none goes to `problems`."""
    allowed = sorted({*known.budgets, known.answering})
    least = known.answering if line.budget is None else line.budget
    if least not in allowed:
        problems.add(line.where, f"budget {least} is not measured; measured: {', '.join(map(str, allowed))}")
        return []
    if tokens > least:
        said = f"its budget is {least}" if line.budget else f"without a budget {least} are allowed, those of answers"
        problems.add(line.where, f"the context of question {line.question!r} has {tokens} tokens, {said}")
        return []
    return [b for b in allowed if b >= tokens] if line.budget is None else [line.budget]
