"""Import contexts made elsewhere: a JSON Lines file, one context a line, to rows of the contexts table.

    {"question_id": "q1", "text": "As it is sent.", "passages": ["p3"]}

- `text`: the context, or a list of its parts, which are sent a line each; empty for a context of nothing.
- `passages`: one passage id for a text, or one id or null for each part of a list, where a part is a shortened passage.
  Passages and quotations that stand in a text word for word are found without it.

A context is compared with others of its own number of tokens.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from secateur.contexts.piece import Context, Piece, Row, passage_text, text_of
from secateur.contexts.table import IMPORTED, OWN_LENGTH, context_rows
from secateur.contexts.tracing import Tracer
from secateur.core.errors import nearest
from secateur.datasets.reading import TEXT, Forms, Problems, form_problems, json_lines
from secateur.models.units import unit_spans
from secateur.models.word_pieces import Counter

__all__ = ["Reference", "imported_rows", "read_contexts", "reference_of"]

LINE: Forms = {
    "question_id": TEXT,
    "text": ("a text, or a list of them", lambda v: isinstance(v, str) or _list_of(v, TEXT[1])),
    "passages": ("a list of passage ids, or null", lambda v: v is None or _list_of(v, _id_or_null)),
    "budget": ("a number of tokens of at least 1, or null", lambda v: v is None or (type(v) is int and v > 0)),
}
FIX = (
    "one JSON object a line with question_id and text, and optionally passages; one context a question; ids as in the data "
    "set (docs/plugins.md)"
)


def _list_of(value: Any, valid) -> bool:
    return isinstance(value, list) and all(map(valid, value))


def _id_or_null(value: Any) -> bool:
    return value is None or TEXT[1](value)


@dataclass(frozen=True)
class Reference:
    """The data set that lines are checked against.

    groups: of each question, by id. texts: each passage as a reader gets it, by id. passages: the table. is_limited: whether
    the questions are the first of a larger set; lines of others are then ignored.
    """

    groups: Mapping[str, str]
    texts: Mapping[str, str]
    passages: pl.DataFrame
    is_limited: bool = False

    @cached_property
    def tracers(self) -> Mapping[str, tuple[Tracer, list[str]]]:
        """Of each group, a tracer of its passages, with and without speaker, date and title, and the ids of its texts."""
        tracers = {}
        for (group,), part in self.passages.partition_by("group_id", as_dict=True).items():
            columns = part.sort("doc_id", "position").select("passage_id", "text", "speaker", "date", "title").rows()
            written = dict.fromkeys((self.texts[passage], passage) for passage, *_ in columns)
            for passage, text, _, date, title in columns:
                written |= dict.fromkeys([(text, passage), (passage_text(text, title, date), passage)])
            tracers[group] = Tracer([text for text, _ in written]), [passage for _, passage in written]
        return tracers


def reference_of(questions: pl.DataFrame, passages: pl.DataFrame, is_limited: bool = False) -> Reference:
    """The Reference of a data set."""
    columns = passages.select("passage_id", "text", "speaker", "date").iter_rows()
    texts = {passage: passage_text(*fields) for passage, *fields in columns}
    return Reference(dict(questions.select("question_id", "group_id").iter_rows()), texts, passages, is_limited)


def read_contexts(path: Path, reference: Reference, warn: Callable[[str], object]) -> dict[str, list[Piece]]:
    """The pieces of each question's context. Raises SecateurError with all problems of the file, each with its line.

    warn: is told what of the file is ignored.
    """
    problems, places, contexts, budgets, several = Problems(path, FIX), {}, {}, 0, 0
    for where, value in json_lines(path, problems):
        clauses = form_problems(value, LINE)
        question = value.get("question_id") if isinstance(value, dict) else None
        if not clauses and reference.is_limited and question not in reference.groups:
            continue
        clauses = clauses or _unresolved(value, reference)
        if not clauses and question in places:
            clauses = [f"question {question!r} has a context in {places[question]} already"]
        for clause in clauses:
            problems.add(where, clause)
        if not clauses:
            places[question], contexts[question] = where, _pieces(value, reference)
            budgets += value.get("budget") is not None
            several += isinstance(value["text"], str) and len(value.get("passages") or ()) > 1
    if not contexts and not problems.clauses:
        problems.add(
            "the file", "has no context of the questions that LIMIT keeps" if reference.is_limited else "is empty"
        )
    problems.stop()
    if budgets:
        warn(
            f"{path.name}: `budget` of {budgets} contexts is ignored, since each is compared at its own number of tokens"
        )
    if several:
        warn(
            f"{path.name}: {several} contexts name several passages for one text; only those that stand in it word for word "
            "count. Fix, for shortened passages: give the text as a list of parts, with one passage id for each"
        )
    return contexts


def _unresolved(value: dict[str, Any], reference: Reference) -> list[str]:
    """Names in a line that the data set lacks, each in a clause."""
    question, text, ids = value["question_id"], value["text"], value.get("passages") or []
    clauses = []
    if question not in reference.groups:
        clauses.append(f"unknown question {question!r}{nearest(question, reference.groups)}")
    clauses += [f"passage {p!r} does not resolve" for p in ids if p is not None and p not in reference.texts]
    if isinstance(text, list) and ids and len(ids) != len(text):
        clauses.append(f"text has {len(text)} parts, passages names {len(ids)}")
    return clauses


def _pieces(value: dict[str, Any], reference: Reference) -> list[Piece]:
    """The parts of a context, each with its passage if the line names it, else cut at the passages that it holds."""
    text, ids = value["text"], value.get("passages") or []
    texts = text if isinstance(text, list) else [text]
    ids = ids if len(ids) == len(texts) else [None] * len(texts)
    tracer, rows = reference.tracers[reference.groups[value["question_id"]]]
    pieces = []
    for n, (part, passage) in enumerate(zip(texts, ids, strict=True), 1):
        part += "\n" * (n < len(texts))
        if passage is not None:
            pieces.append(Piece(passage, part, whole=reference.texts[passage] == part.removesuffix("\n")))
            continue
        for span in tracer.cut(part):
            traced = None if span.passage is None else rows[span.passage]
            pieces.append(Piece(traced, span.text, whole=traced is not None))
    return pieces


def imported_rows(
    contexts: Mapping[str, Sequence[Piece]], count: Counter, window: int, lengths: Mapping[str, int] | None = None
) -> tuple[list[tuple], dict[str, int]]:
    """(rows of the contexts table, question -> tokens beyond the reader's window, whose context loses its beginning).

    lengths: question -> tokens that its context may have, as long as another system's; other questions are left out.
    """
    rows, cut = [], {}
    for question, pieces in contexts.items():
        sent = [Row(piece.text, piece.passage_id, (), piece.whole) for piece in pieces]
        tokens = _tokens(sent, count)
        if tokens > window:
            sent = list(_read(sent, count, window))
            cut[question] = tokens - (tokens := _tokens(sent, count))
        if lengths is not None and question not in lengths:
            continue
        if lengths is not None and tokens > lengths[question]:
            sent = _within(sent, count, lengths[question])
            tokens = _tokens(sent, count)
        rows += context_rows(question, IMPORTED, False, IMPORTED, {OWN_LENGTH: Context(sent or [Row("")], tokens)})
    return rows, cut


def _tokens(rows: Sequence[Row], count: Counter) -> int:
    text = text_of(rows)
    return int(count([text])[0]) if text else 0


def _within(rows: Sequence[Row], count: Counter, limit: int) -> list[Row]:
    """The rows that fit: a passage that does not is passed over, of a text between passages its beginning is kept."""
    kept: list[Row] = []
    for row in rows:
        beginnings = [row]
        if row.passage_id is None:
            beginnings += [Row(row.text[:end]) for *_, end in reversed([*unit_spans(row.text)])]
        n = bisect_left(beginnings, True, key=lambda part: _tokens([*kept, part], count) <= limit)
        kept += beginnings[n : n + 1]
    return kept


def _read(rows: Sequence[Row], count: Counter, window: int) -> Iterator[Row]:
    """The last rows that a reader's window holds; the first of them without its beginning, so not whole."""

    def first(tails: Sequence[Sequence[Row]]) -> Sequence[Row]:
        return tails[bisect_left(range(len(tails)), True, key=lambda n: _tokens(tails[n], count) <= window)]

    whole_rows = first([rows[n:] for n in range(1, len(rows) + 1)])
    part = rows[-len(whole_rows) - 1]
    starts = [start for _, start, _ in unit_spans(part.text)]
    yield from first([[Row(part.text[start:], part.passage_id), *whole_rows] for start in starts] + [whole_rows])
