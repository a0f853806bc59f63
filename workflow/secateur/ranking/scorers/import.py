"""A ranking made elsewhere: a TREC run with lines `qid Q0 passage rank score tag`.

A line with tabs is split at tabs, so that ids may hold blanks; any other line at blanks. Passages are ranked by
score, highest first, equal scores by rank, then by line. Ranks that contradict scores are refused; ranks of a question
that are equal, or not all whole numbers, say nothing. Passages that the run does not name are not ranked.
"""

import math
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from secateur.core.errors import SecateurError, nearest
from secateur.core.fields import key
from secateur.datasets.reading import Problems, read_text
from secateur.ranking.group import Group, Questions, Scores

READS_QUESTION = False  # a run is not smoothed or expanded; import another run instead
FILES = ("run",)  # settings that are paths of files
FIELDS = "qid Q0 passage rank score tag"
RANK = re.compile(r"-?\d{1,15}(\.0*)?")  # tables write 1.0
Lines = dict[str, dict[str, tuple[float, int, float]]]  # question -> passage -> (score, line number, rank or NaN)
Run = dict[str, dict[str, tuple[float, int]]]  # question -> passage, best first -> (score, line number)


@dataclass(frozen=True)
class Settings:
    """The file of the run."""

    run: str = key("path of the TREC run")


def read_run(path: Path) -> Run:
    """Read a run. Raises SecateurError that lists every invalid line, and for ranks that contradict scores."""
    form = f"each line is {FIELDS}, a passage once for each question; tabs between fields where ids hold blanks"
    problems, lines = Problems(path, form), {}
    for n, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip() and (clause := _add(lines, n, _fields(line.removesuffix("\r")))):
            problems.add(f"line {n}", clause)
    if not lines and not problems.clauses:
        problems.add("the file", "ranks nothing")
    problems.stop()
    return _ranked(path, lines)


def _ranked(path: Path, lines: Lines) -> Run:
    """The run, each question's passages best first. Raises SecateurError for scores that rise where ranks get worse."""
    run, first_lines, reverse = {}, [], 0
    for question, passages in lines.items():
        score, number, rank = np.array(list(passages.values())).T
        rank = np.zeros_like(rank) if np.isnan(rank).any() else rank
        by_rank = np.lexsort((-score, rank))  # within a rank, scores fall
        better, worse = score[by_rank][:-1], score[by_rank][1:]
        if (rises := worse > better).any():
            first_lines.append(int(number[by_rank][1:][rises].min()))
            reverse += not (worse < better)[np.diff(rank[by_rank]) > 0].any()
        names = list(passages)
        run[question] = {names[n]: passages[names[n]][:2] for n in np.lexsort((number, rank, -score))}
    if not first_lines:
        return run
    are_distances = 2 * reverse > sum(len(passages) > 1 for passages in lines.values())
    fix = "write scores that fall with rank, or ranks that follow the scores"
    fix = "the scores look like distances; negate them" if are_distances else fix
    raise SecateurError(
        f"{path}: ranks contradict scores in {len(first_lines)} of {len(lines)} questions; line {min(first_lines)}: the score "
        f"is higher than at a better rank. Fix: {fix}"
    )


def _fields(line: str) -> list[str]:
    """The fields of a line: between tabs if it has one, else between blanks.

    >>> _fields("q1\\tQ0\\tFree Guy (film):0\\t1\\t9.5\\tmine")[2], _fields("q1  Q0 d1 1 9.5 mine")[2]
    ('Free Guy (film):0', 'd1')
    """
    line = line.strip(" \t")
    return line.split("\t") if "\t" in line else re.split(" +", line)


def _add(lines: Lines, n: int, fields: list[str]) -> str | None:
    """Add one line to those of a run; returns what is wrong with it, or None."""
    if len(fields) != len(FIELDS.split()):
        return f"{len(fields)} fields, a run has {len(FIELDS.split())}"
    question, _, passage, rank, text, _ = fields
    passages = lines.setdefault(question, {})
    try:
        value = float(text.replace("_", "no digit"))  # Python reads 1_0 as 10
    except ValueError:
        return f"score {text!r} is no number"
    if not math.isfinite(value):
        return f"score {text} is not finite"
    if passage in passages:
        return f"passage {passage!r} stands under question {question!r} in line {passages[passage][1]} already"
    passages[passage] = value, n, float(rank) if RANK.fullmatch(rank) else math.nan
    return None


@cache
def _cached_run(path: str, modified: int) -> Run:
    """The run of a file, read once per process."""
    return read_run(Path(path))


def _run(settings: Settings) -> Run:
    path = Path(settings.run)
    return _cached_run(settings.run, path.stat().st_mtime_ns if path.exists() else 0)


def check(settings: Settings, questions: pl.DataFrame, passages: pl.DataFrame, is_limited: bool = False) -> list[str]:
    """Warnings of questions whose passages all have one score.

    Raises SecateurError for questions of the run that the data set lacks, and passages outside a question's group.
    is_limited: whether the questions are the first of a larger set; lines of others are then ignored.
    """
    problems = Problems(Path(settings.run), "ids as in the tables questions and passages (docs/data.md)")
    question_groups = dict(questions.select("question_id", "group_id").iter_rows())
    passage_groups = dict(passages.select("passage_id", "group_id").iter_rows())
    equal = 0
    for question, scores in _run(settings).items():
        equal += question in question_groups and len(scores) > 1 == len({score for score, _ in scores.values()})
        first = min(n for _, n in scores.values())
        if question not in question_groups:
            if is_limited:
                continue
            problems.add(f"line {first}", f"unknown question {question!r}{nearest(question, question_groups)}")
            continue
        for passage, (_, n) in scores.items():
            if passage_groups.get(passage) != question_groups[question]:
                reason = "is not in the group of" if passage in passage_groups else "does not resolve, for"
                problems.add(f"line {n}", f"passage {passage!r} {reason} question {question!r}")
    problems.stop()
    where = f"in {equal} of {len(question_groups)} questions all passages have one score"
    return [f"{where}: they stand in the order of their ranks, or of their lines"] if equal else []


def score(settings: Settings, group: Group, questions: Questions, seed: int) -> Scores:
    """Scores of the run; minus infinity for passages that it does not rank. Of equal scores each is the next smaller."""
    run = _run(settings)
    place = {p: n for n, p in enumerate(group.ids)}
    scores = np.full((len(questions.queries), len(group.texts)), -np.inf)
    for row, question in enumerate(questions.ids):
        below = math.inf
        for passage, (value, _) in run.get(question, {}).items():
            scores[row, place[passage]] = value = min(value, max(below, -sys.float_info.max))
            below = math.nextafter(value, -math.inf)
    return scores
