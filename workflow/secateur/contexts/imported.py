"""Import contexts made elsewhere: a JSON Lines file, one context a line, to rows of the contexts table.

    {"question_id": "q1", "text": "As it is sent.", "passages": ["p3"], "budget": 256}

- `text`: the context, or a list of its parts, which are sent a line each.
- `passages`: the source of the text: one passage id for a text, or one id or null for each part of a list. If any line
  names several passages for one text, no line's provenance is used, and metrics that need it are left out: else they would
  be measured on the questions that happen to have one passage.
- `budget`: tokens that the context may have. A context without one counts for every measured budget that it fits, and must
  fit the budget of answers.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from secateur.contexts.piece import Context, Piece, rows_of, text_of
from secateur.contexts.table import IMPORTED, context_rows
from secateur.core.errors import nearest
from secateur.datasets.reading import TEXT, Forms, Problems, form_problems, json_lines
from secateur.models.word_pieces import Counter

__all__ = ["Reference", "check_lines", "imported_rows"]

LINE: Forms = {
    "question_id": TEXT,
    "text": ("a text that is not empty, or a list of them", lambda v: TEXT[1](v) or _list_of(v, TEXT[1])),
    "passages": ("a list of passage ids, or null", lambda v: v is None or v == [] or _list_of(v, _id_or_null)),
    "budget": ("a number of tokens of at least 1, or null", lambda v: v is None or (type(v) is int and v > 0)),
}
FIX = (
    f"one JSON object a line with question_id and text; allowed keys: {', '.join(LINE)}; ids as in the data set, texts "
    "within their budgets (docs/plugins.md)"
)


def _list_of(value: Any, valid) -> bool:
    return isinstance(value, list) and bool(value) and all(map(valid, value))


def _id_or_null(value: Any) -> bool:
    return value is None or TEXT[1](value)


@dataclass(frozen=True)
class Reference:
    """The data set and the budgets that lines are checked against.

    questions: ids. texts: each passage as a reader gets it, by id. budgets: those that are measured. answer_budget: the
    budget of answers. is_limited: whether the questions are the first of a larger set; lines of others are then ignored.
    """

    questions: frozenset[str]
    texts: Mapping[str, str]
    count: Counter | None
    budgets: Sequence[int]
    answer_budget: int
    is_limited: bool = False

    @property
    def measured(self) -> list[int]:
        """All budgets, those of answers included."""
        return sorted({*self.budgets, self.answer_budget})


@dataclass(frozen=True)
class _Line:
    """A valid line. where: its place in the file, for messages; several: whether one text has several passages."""

    where: str
    question: str
    pieces: list[Piece]
    budget: int | None
    several: bool


def check_lines(
    path: Path, questions: Collection[str], texts: Mapping[str, str], budgets: Sequence[int], answer_budget: int
) -> None:
    """Raise SecateurError with all problems of a file but the lengths of its texts. Arguments: as of `Reference`."""
    problems, reference = Problems(path, FIX), Reference(frozenset(questions), texts, None, budgets, answer_budget)
    lines = list(_lines(path, reference, problems))
    if not lines and not problems.clauses:
        problems.add("the file", "is empty")
    seen: dict[tuple[str, int], str] = {}
    for line in lines:
        if line.budget and line.budget not in reference.measured:
            problems.add(line.where, _unmeasured(line.budget, reference))
        key = line.question, line.budget or answer_budget
        if key in seen:
            problems.add(line.where, _repeated(*key, seen[key]))
        seen.setdefault(key, line.where)
    problems.stop()


def imported_rows(path: Path, reference: Reference, warn: Callable[[str], object]) -> list[tuple]:
    """Rows of the contexts table. Raises SecateurError with all problems of the file, each with its line.

    warn: is told how many contexts have no provenance.
    """
    problems = Problems(path, FIX)
    lines = list(_lines(path, reference, problems))
    if not lines and not problems.clauses:
        problems.add(
            "the file", "has no context of the questions that LIMIT keeps" if reference.is_limited else "is empty"
        )
    lines = _sourced(lines, warn)
    contexts: dict[tuple[str, int], tuple[str, Context]] = {}  # (question, budget) -> (place in the file, context)
    for line in lines:
        rows = rows_of(line.pieces)
        context = Context(rows, int(reference.count([text_of(rows)])[0]))
        keys = [(line.question, budget) for budget in _budgets(line, context.tokens, reference, problems)]
        repeated = next((key for key in keys if key in contexts), None)
        if repeated:
            problems.add(line.where, _repeated(*repeated, contexts[repeated][0]))
        contexts = dict.fromkeys(keys, (line.where, context)) | contexts
    problems.stop()
    return [
        row
        for (question, budget), (_, context) in contexts.items()
        for row in context_rows(question, IMPORTED, False, IMPORTED, {budget: context})
    ]


def _lines(path: Path, reference: Reference, problems: Problems) -> Iterator[_Line]:
    """Yield the valid lines; add what is wrong with the others to `problems`."""
    for where, value in json_lines(path, problems):
        clauses = form_problems(value, LINE)
        if not clauses and reference.is_limited and value["question_id"] not in reference.questions:
            continue
        clauses = clauses or _unresolved(value, reference)
        for clause in clauses:
            problems.add(where, clause)
        if not clauses:
            pieces, ids = _pieces(value, reference.texts), value.get("passages") or []
            yield _Line(where, value["question_id"], pieces, value.get("budget"), len(ids) > len(pieces))


def _sourced(lines: Sequence[_Line], warn: Callable[[str], object]) -> list[_Line]:
    """The lines, without any provenance if one names several passages for a text."""
    several = sum(line.several for line in lines)
    unnamed = sum(all(piece.passage_id is None for piece in line.pieces) for line in lines)
    if several:
        warn(
            f"{several} of {len(lines)} contexts name several passages for one text, so evidence recall is left out. Fix: "
            "give the text as a list of parts, with one passage id for each"
        )
        return [replace(line, pieces=[Piece(None, piece.text, whole=False) for piece in line.pieces]) for line in lines]
    if 0 < unnamed < len(lines):
        warn(f"{unnamed} of {len(lines)} contexts name no passage: evidence recall leaves them out")
    return list(lines)


def _unresolved(value: dict[str, Any], reference: Reference) -> list[str]:
    """Names in a line that the data set lacks, each in a clause."""
    question, text, ids = value["question_id"], value["text"], value.get("passages") or []
    clauses = []
    if question not in reference.questions:
        clauses.append(f"unknown question {question!r}{nearest(question, reference.questions)}")
    clauses += [f"passage {p!r} does not resolve" for p in ids if p is not None and p not in reference.texts]
    if isinstance(text, list) and ids and len(ids) != len(text):
        clauses.append(f"text has {len(text)} parts, passages names {len(ids)}")
    return clauses


def _pieces(value: dict[str, Any], texts: Mapping[str, str]) -> list[Piece]:
    """The parts of a context, each with its passage if the line names it."""
    text, ids = value["text"], value.get("passages") or []
    parts = text if isinstance(text, list) else [text]
    ids = ids if len(ids) == len(parts) else [None] * len(parts)
    return [Piece(p, part, whole=p is not None and texts[p] == part) for part, p in zip(parts, ids, strict=True)]


def _unmeasured(budget: int, reference: Reference) -> str:
    return f"budget {budget} is not measured; measured: {', '.join(map(str, reference.measured))}"


def _repeated(question: str, budget: int, where: str) -> str:
    return f"question {question!r} has a context of budget {budget} in {where} already"


def _budgets(line: _Line, tokens: int, reference: Reference, problems: Problems) -> list[int]:
    """Budgets that a context counts for; if none, the reason goes to `problems`."""
    measured = reference.measured
    limit = reference.answer_budget if line.budget is None else line.budget
    if limit not in measured:
        problems.add(line.where, _unmeasured(limit, reference))
        return []
    if tokens > limit:
        reason = f"its budget is {limit}" if line.budget else f"without a budget {limit} are allowed, those of answers"
        wider = ", ".join(str(budget) for budget in measured if budget >= tokens)
        allowed = f"allowed: budget {wider}" if wider else f"the largest in eval.budgets is {measured[-1]}"
        problems.add(line.where, f"the context of question {line.question!r} has {tokens} tokens, {reason}; {allowed}")
        return []
    return [budget for budget in measured if budget >= tokens] if line.budget is None else [line.budget]
