"""A ranking made elsewhere: a TREC run, one line a passage: `qid Q0 passage rank score tag`."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from secateur.pipeline.config.fields import key
from secateur.pipeline.errors import SecateurError
from secateur.ranking.group import Asked, Group, Scores

READS_QUESTION = False
FIELDS = 6


@dataclass(frozen=True)
class Settings:
    """Where the run is."""

    run: str = key("path of the TREC run")


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """question -> passage -> score. Raises SecateurError that lists every bad line at once."""
    if not path.exists():
        raise SecateurError(f"{path}: no such file. Fix: correct `run` of the ranker of kind import.")
    found: dict[str, dict[str, float]] = {}
    wrong = [
        problem
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.strip()
        for problem in _line(found, n, line)
    ]
    if wrong:
        raise SecateurError(
            f"{path}: {len(wrong)} bad lines: {'; '.join(wrong[:5])}. Fix: qid Q0 passage rank score tag."
        )
    return found


def _line(found: dict[str, dict[str, float]], n: int, line: str) -> list[str]:
    """Take one line; what is wrong with it, each in a clause."""
    parts = line.split()
    if len(parts) != FIELDS:
        return [f"line {n} has {len(parts)} fields, a run has {FIELDS}"]
    question, _, passage, _, text, _ = parts
    try:
        value = float(text)
    except ValueError:
        return [f"line {n}: score {text!r} is no number"]
    if not math.isfinite(value):
        return [f"line {n}: score {text} is not finite"]
    if passage in found.setdefault(question, {}):
        return [f"line {n}: passage {passage!r} stands twice under question {question!r}"]
    found[question][passage] = value
    return []


def check(settings: Settings, questions: Iterable[str], passages: Iterable[str]) -> None:
    """Raise SecateurError where the run names a question or a passage that is not there."""
    run, asked, known = read_run(Path(settings.run)), set(questions), set(passages)
    strange = [f"question {q!r}" for q in run if q not in asked]
    strange += sorted({f"passage {p!r}" for own in run.values() for p in own if p not in known})
    if strange:
        raise SecateurError(
            f"{settings.run}: {len(strange)} names are not in the data set, e.g. {', '.join(strange[:5])}. "
            "Fix: ids as in the tables questions and passages (secateur table)."
        )


def score(settings: Settings, group: Group, asked: Asked, seed: int) -> Scores:
    """The run's scores; minus infinity for what it does not rank."""
    run, place = read_run(Path(settings.run)), {p: n for n, p in enumerate(group.ids)}
    found = np.full((len(asked.queries), len(group.texts)), -np.inf)
    for row, question in enumerate(asked.ids):
        for passage, value in run.get(question, {}).items():
            if passage in place:
                found[row, place[passage]] = value
    return found
