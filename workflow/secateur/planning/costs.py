"""Estimates what the jobs of an experiment cost, and says what the estimate rests on."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from secateur.core.layout import beside, data_of, passages
from secateur.planning.foretold import ANOTHER, ENDPOINT, unmeasured
from secateur.planning.pace import Coefficients, Paces, Ran, kind_of, total, unseen
from secateur.planning.plan import Variant
from secateur.planning.progress import Job
from secateur.planning.sizes import Data, Sizes, joining, pairs_of

__all__ = ["Estimate", "Foretold", "estimate"]

PREPARING = ("prepare_corpus", "prepare_dataset")
SHOWN = 1e7  # bytes from which disk and memory are worth a clause
EMBEDDING = ("build_codebook", "rank_passages", "rank_by_graph")  # rules that embed a corpus
SCORING = "score_candidates"  # the rule in which a language model reads pairs of question and passage
HERE, SHIPPED = "jobs that ran here", "shipped coefficients"
ABSENT, NEW = "data not here yet", "no job of the rule ran here"  # why a time is unknown


@dataclass(frozen=True)
class Foretold:
    """A job that would run. seconds: CPU seconds, None if unknown; basis: what they rest on, or why they are unknown."""

    rule: str
    seconds: float | None
    basis: str
    tokens: float = 0.0
    record: str = ""


def estimate(
    jobs: Sequence[Job],
    ran: Sequence[Ran],
    coefficients: Coefficients,
    conf: Path,
    variants: Sequence[Variant],
    overrides: tuple[str, ...] = (),
) -> "Estimate":
    """The Estimate of jobs that would run for an experiment. ran: the jobs that ran here."""
    data = Data(conf, overrides, {data_of(job.record)[:2] for job in jobs if job.rule in PREPARING})
    read = data.pairs(variants)
    paces = Paces(coefficients, ran)
    seen = {(job.rule, job.corpus) for job in ran}
    kinds = {(job.rule, job.kind) for job in ran}
    paired, foretold = pairs_of((v.dataset, v.system, v.order) for v in variants), []
    joins = joining(job.record for job in jobs)
    for job in jobs:
        sizes = data.sizes(job.record)
        if sizes is not None:
            sizes |= {"variants": len(variants), "paired": paired} | read.get(job.record, {})
            sizes |= unseen(job.rule, data_of(job.record)[0], sizes, seen)
            sizes = dict.fromkeys(sizes, 0) | {"job": 1} if job.record in joins else sizes
        measured = (job.rule, kind_of(job.record)) in kinds
        reason = None if measured else unmeasured(conf, job.rule, job.record, overrides)
        foretold.append(_foretold(job, sizes, paces, reason))
    pairs = [read.get(job.record, {}).get("pairs") for job in jobs if job.rule == SCORING]
    embedded = {data_of(job.record)[0] for job in jobs if job.rule in EMBEDDING}
    corpora = [data.sizes(beside(passages({"corpus": corpus}), "run.json")) for corpus in sorted(embedded)]
    disk, memory = (
        [total(bytes_, sizes) or 0 for sizes in corpora] for bytes_ in (coefficients.disk, coefficients.memory)
    )
    read_pairs = None if None in pairs else math.ceil(sum(pairs))
    return Estimate(foretold, read_pairs, sum(disk), max(memory, default=0))


def _foretold(job: Job, sizes: Sizes | None, paces: Paces, reason: str | None = None) -> Foretold:
    """reason: why the shipped coefficients do not tell the job's time."""
    coefficients = paces.coefficients
    reference = coefficients.seconds(job.rule, sizes)
    pace = paces.pace(job.rule, kind_of(job.record))
    tokens = 0.0 if reason == ENDPOINT else total(coefficients.tokens.get(job.rule, {}), sizes) or 0.0
    if reason or reference is None or pace is None:
        basis = reason or (ABSENT if reference is None else NEW)
        return Foretold(job.rule, None, basis, tokens, job.record)
    seconds = pace * reference + paces.overall() * coefficients.start
    return Foretold(job.rule, seconds, HERE if paces.ran(job.rule) else SHIPPED, tokens, job.record)


@dataclass(frozen=True)
class Estimate:
    """The cost of jobs that would run.

    pairs: of question and passage that a language model will read, at most; None if unknown. disk, memory: bytes that
    corpora embedded by these jobs take on disk, and in memory in one job, without models; 0 if unknown.
    """

    jobs: Sequence[Foretold]
    pairs: int | None = None
    disk: float = 0.0
    memory: float = 0.0

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each rule; times are of the jobs whose time is known, null without one."""
        rules: dict[str, list[Foretold]] = {}
        for job in self.jobs:
            rules.setdefault(job.rule, []).append(job)
        rows = []
        for rule, jobs in rules.items():
            seconds = [job.seconds for job in jobs if job.seconds is not None]
            basis = Counter(job.basis for job in jobs)
            rows.append(
                {
                    "rule": rule,
                    "jobs": len(jobs),
                    "CPU s each": sum(seconds) / len(seconds) if seconds else None,
                    "CPU s": sum(seconds) if seconds else None,
                    "tokens": round(sum(job.tokens for job in jobs)) or None,
                    "rests on": next(iter(basis)) if len(basis) == 1 else _counts(basis),
                }
            )
        if all(row["tokens"] is None for row in rows):
            rows = [{name: value for name, value in row.items() if name != "tokens"} for row in rows]
        return rows

    @property
    def seconds(self) -> float:
        """CPU seconds of the jobs whose time is known."""
        return sum(job.seconds or 0.0 for job in self.jobs)

    def summary(self, cores: int) -> str:
        """Jobs, minutes and pairs in one line, with what they rest on."""
        clauses = [f"{len(self.jobs)} jobs to run"]
        timed = Counter(job.basis for job in self.jobs if job.seconds is not None)
        if timed:
            minutes = self.seconds / 60
            time = f"about {minutes:.1f} minutes of one core, at least {minutes / cores:.1f} on {cores}"
            clauses.append(f"{time}, by {_counts(timed)}")
        if self.disk >= SHOWN:
            clauses.append(
                f"about {self.disk / 1e9:.2f} GB of disk, {self.memory / 1e9:.1f} GB of memory in the largest job"
            )
        for reason in (NEW, ABSENT, ENDPOINT, ANOTHER):
            if rules := Counter(job.rule for job in self.jobs if job.basis == reason):
                clauses.append(f"time unknown of {rules.total()} jobs ({reason}): {', '.join(rules)}")
        scoring = [job for job in self.jobs if job.rule == SCORING]
        if scoring and self.pairs is None:
            clauses.append(f"logs/{SCORING} will tell how many pairs of question and passage a language model reads")
        elif scoring:
            clauses.append(f"a language model reads at most {self.pairs:,} pairs of question and passage")
        return "; ".join(clauses)

    def beyond(self, free: float, memory: float) -> list[str]:
        """What this machine lacks, in sentences. free: bytes of disk; memory: bytes in all."""
        lacking = []
        if self.disk > free:
            lacking.append(
                f"{free / 1e9:.1f} GB of disk are free: too few. Fix: `secateur clean`, or a folder on another disk."
            )
        if self.memory > memory:
            lacking.append(
                f"this machine has {memory / 1e9:.1f} GB of memory: too few. Fix: a larger one, or the rankers of "
                "docs/cluster.md for corpora beyond memory."
            )
        return lacking


def _counts(basis: Counter) -> str:
    """`shipped coefficients (3)` for each basis, the most frequent first, equal ones by name."""
    return " and ".join(f"{name} ({count})" for name, count in sorted(basis.items(), key=lambda row: (-row[1], row[0])))
