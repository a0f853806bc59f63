"""The questions of an experiment with what each system gives its reader, as the plain data that the page looks through."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

__all__ = ["BYTES", "SYSTEMS", "Given", "Set", "best", "browsed"]

BYTES = 12_000_000  # of a page's data; a page stays below 20 MB, and opens in seconds
SYSTEMS = 12  # rows of a data set that can be chosen
FIGURES = ("evidence_recall", "evidence_coverage", "token_recall", "provenance_recall", "answer_gain")  # at a budget
WHOLE = ("f1_at_gold", "rouge_l", "token_f1", "exact_match")  # that have none


@dataclass(frozen=True)
class Given:
    """What a row gives the reader of each question. pieces: question_id, place, passage_id, text, tokens (null where they
    are not counted); figures: question_id, metric, value; answers: question_id -> what was answered."""

    name: str
    pieces: pl.DataFrame
    figures: pl.DataFrame
    answers: Mapping[str, str]


@dataclass(frozen=True)
class Set:
    """A data set: questions in their order, gold evidence, its rows. budget: tokens allowed; None where turns are chosen."""

    name: str
    questions: pl.DataFrame
    evidence: pl.DataFrame
    rows: Sequence[Given]
    budget: int | None


class _Texts:
    """Strings by number: systems send the same sentences."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.bytes = 0

    def __call__(self, text: str) -> int:
        if text not in self.known:
            self.known[text] = len(self.known)
            self.bytes += len(text.encode())
        return self.known[text]


def browsed(sets: Sequence[Set], most: int = BYTES) -> dict[str, Any]:
    """texts, and each data set with its systems and as many of its questions, drawn by hash of their ids, as `most` bytes
    hold: those that are shown, and of how many."""
    texts, found = _Texts(), []
    for one in sets:
        found.append(_set(one, texts, most // max(len(sets), 1)))
    return {"texts": list(texts.known), "sets": found}


def _set(one: Set, texts: _Texts, most: int) -> dict[str, Any]:
    gold: dict[str, list[tuple[str, str | None]]] = {}
    for question, text, passage in (
        one.evidence.sort("question_id", "n").select("question_id", "text", "passage_id").iter_rows()
    ):
        gold.setdefault(question, []).append((text or "", passage))
    rows = [(_by_question(row), _figures(row, one.budget), row.answers) for row in one.rows]
    made, used = {}, 0
    asked = one.questions.select("question_id", "text", "answer", "type").rows()
    for question, text, answer, kind in sorted(asked, key=lambda row: _hash(row[0])):
        own = gold.get(question, [])
        marked = {passage for _, passage in own if passage}
        before = texts.bytes
        shown = {
            "id": question,
            "q": text,
            "a": answer or "",
            "t": kind or "",
            "gold": [texts(said) for said, _ in own],
            "rows": [_row(question, *row, marked, texts) for row in rows],
        }
        used += texts.bytes - before + len(json.dumps(shown, ensure_ascii=False).encode())
        if used > most and made:
            break
        made[question] = shown
    ordered = [made[question] for question, *_ in asked if question in made]
    budget = one.budget
    return {"name": one.name, "budget": budget, "of": len(asked), "systems": [r.name for r in one.rows]} | {
        "questions": ordered
    }


def _by_question(row: Given) -> dict[str, list[tuple]]:
    columns = ("question_id", "passage_id", "text", "tokens")
    found: dict[str, list[tuple]] = {}
    for question, *piece in row.pieces.sort("question_id", "place").select(columns).iter_rows():
        found.setdefault(question, []).append(tuple(piece))
    return found


def _figures(row: Given, budget: int | None) -> dict[str, dict[str, float]]:
    names = {f"{name}@{budget}": name for name in FIGURES} | {name: name for name in WHOLE}
    found: dict[str, dict[str, float]] = {}
    own = row.figures.filter(pl.col("metric").is_in(list(names))).select("question_id", "metric", "value")
    for question, metric, value in own.iter_rows():
        found.setdefault(question, {})[names[metric]] = round(value, 3)
    return found


def _row(question: str, pieces, figures, answers, marked: set[str], texts: _Texts) -> dict[str, Any]:
    """A context: its pieces by number, negative ones are gold evidence; tokens, figures, answer."""
    own = pieces.get(question, [])
    numbers = [-texts(text) - 1 if passage in marked else texts(text) for passage, text, _ in own]
    tokens = own[0][2] if own else 0
    return {"p": numbers, "k": tokens, "f": figures.get(question, {}), "s": answers.get(question)}


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def best(figures: pl.DataFrame, metric: str = "f1_at_gold") -> list[str]:
    """The scorers of a list that can be chosen: as many of the best as there is room.

    >>> best(pl.DataFrame({"scorer": ["a", "b"], "metric": ["f1_at_gold"] * 2, "value": [0.2, 0.4]}))
    ['b', 'a']
    """
    means = figures.filter(pl.col("metric") == metric).group_by("scorer").agg(pl.col("value").mean())
    return means.sort("value", "scorer", descending=[True, False]).head(SYSTEMS)["scorer"].to_list()
