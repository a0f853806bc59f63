"""A ranking made elsewhere: a TREC run, one line a passage: `qid Q0 passage rank score tag`.

The scores rank, higher is better, equal ones in reading order; the rank and the tag are not read. A passage that the run
does not name is not ranked.
"""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from secateur.core.errors import nearest
from secateur.core.fields import key
from secateur.datasets.problems import Problems
from secateur.datasets.reading import read_text
from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False  # so there is no other form of it: smoothing, or another question, is a run of its own
FILES = ("run",)  # settings that are paths of files
FIELDS = "qid Q0 passage rank score tag"
Run = dict[str, dict[str, tuple[float, int]]]  # question -> passage -> its score, the line that says so


@dataclass(frozen=True)
class Settings:
    """Where the run is."""

    run: str = key("path of the TREC run")


def read_run(path: Path) -> Run:
    """The run of a file. Raises SecateurError that lists every bad line at once."""
    problems, found = Problems(path, f"each line is {FIELDS}, a passage once for each question"), {}
    for n, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip() and (clause := _take(found, n, line.split())):
            problems.add(f"line {n}", clause)
    if not found and not problems.found:
        problems.add("the file", "ranks nothing")
    problems.stop()
    return found


def _take(found: Run, n: int, parts: list[str]) -> str | None:
    """Take the fields of one line; what is wrong with them."""
    if len(parts) != len(FIELDS.split()):
        return f"{len(parts)} fields, a run has {len(FIELDS.split())}"
    question, _, passage, _, text, _ = parts
    own = found.setdefault(question, {})
    try:
        value = float(text)
    except ValueError:
        return f"score {text!r} is no number"
    if not math.isfinite(value):
        return f"score {text} is not finite"
    if passage in own:
        return f"passage {passage!r} stands under question {question!r} in line {own[passage][1]} already"
    own[passage] = (value, n)
    return None


@cache
def _known(path: str, stamp: int) -> Run:
    """A run is read once a process, however many groups of passages there are."""
    return read_run(Path(path))


def _run(settings: Settings) -> Run:
    path = Path(settings.run)
    return _known(settings.run, path.stat().st_mtime_ns if path.exists() else 0)


def check(settings: Settings, questions: pl.DataFrame, passages: pl.DataFrame) -> None:
    """Raise SecateurError where the run names a question, or a passage for it, that is not in the data set."""
    problems = Problems(Path(settings.run), "ids as in the tables questions and passages (docs/data.md)")
    asked = dict(questions.select("question_id", "group_id").iter_rows())
    groups = dict(passages.select("passage_id", "group_id").iter_rows())
    for question, own in _run(settings).items():
        first = min(n for _, n in own.values())
        if question not in asked:
            problems.add(f"line {first}", f"unknown question {question!r}{nearest(question, asked)}")
            continue
        for passage, (_, n) in own.items():
            if groups.get(passage) != asked[question]:
                said = "is not in the group of" if passage in groups else "does not resolve, for"
                problems.add(f"line {n}", f"passage {passage!r} {said} question {question!r}")
    problems.stop()


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """The run's scores; minus infinity for what it does not rank."""
    run, place = _run(settings), {p: n for n, p in enumerate(group.ids)}
    found = np.full((len(asked.queries), len(group.texts)), -np.inf)
    for row, question in enumerate(asked.ids):
        for passage, (value, _) in run.get(question, {}).items():
            found[row, place[passage]] = value
    return found
