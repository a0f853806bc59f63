"""Parses Snakemake's output: dry runs, progress, and errors."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from secateur.config.compose import local
from secateur.core.errors import SecateurError
from secateur.stage.provenance import changed_code

__all__ = ["CODE", "DryRun", "Job", "RunProgress", "failure", "parse_dry_run", "parse_summary"]

JOB = re.compile(r"^Job \d+: (.*)$")
COUNT = re.compile(r"^(\w+) +(\d+)$")
STEPS = re.compile(r"^(\d+) of (\d+) steps")
DONE = re.compile(r"^Finished jobid: \d+ \(Rule: (\w+)\)")
PARAM = re.compile(r"'([\w.]+)=(.*?)'(?=[,\s]|$)")
REFUSED = re.compile(r"^\w*Error: \[Errno (\d+)\] [^:\n]*(?:: '(.*)')?$", re.M)
NOISE = ("Using profile", "Using workflow", "Assuming unrestricted", "Building DAG", "SNAKEMAKE")
HEADER = re.compile(r"^SNAKEMAKE\n=+\n(?:  .*\n)*", re.M)  # versions, folders and the command of a run
TARGET, TOTAL = "all", "total"  # rows of the table of jobs that run no stage
MODULES = 6  # changed modules listed for a rule
CODE = "its code changed"
FOLLOWS = "Input files updated by another job"


@dataclass(frozen=True)
class DryRun:
    """Jobs by rule, and (job, cause) of the jobs that do not run because of another job."""

    counts: dict[str, int]
    causes: list[tuple[str, str]]


@dataclass(frozen=True)
class Job:
    """A job that would run. record: the path of its run.json."""

    rule: str
    record: str


def parse_summary(text: str) -> list[Job]:
    """The jobs that would run, from the output of `snakemake --summary`: a row for each output, tab-separated.

    >>> parse_summary("results/a/run.json\\t-\\tconsolidate\\t-\\tmissing\\tupdate pending")
    [Job(rule='consolidate', record='results/a/run.json')]
    """
    rows = [line.split("\t") for line in text.splitlines()]
    return [Job(row[2], row[0]) for row in rows if row[0].endswith("/run.json") and row[-1] == "update pending"]


def parse_dry_run(text: str) -> DryRun:
    """Parses the output of a dry run.

    >>> parse_dry_run("consolidate    2\\nall    1\\nJob 4: Consolidate a graph\\nReason: Missing output files: b\\n")
    DryRun(counts={'consolidate': 2}, causes=[('Consolidate a graph', 'output missing')])
    """
    counts, causes, job = {}, [], None
    for line in text.splitlines():
        if (count := COUNT.match(line)) and count[1] not in (TARGET, TOTAL):
            counts[count[1]] = int(count[2])
        elif match := JOB.match(line):
            job = match[1]
        elif job and line.startswith("Reason: "):
            cause = "; ".join(_causes(line.removeprefix("Reason: ")))
            causes += [(job, cause)] if cause else []
            job = None
    return DryRun(counts, causes)


def _causes(reason: str) -> Iterator[str]:
    """The causes in Snakemake's reason for a job; none if another job causes it.

    >>> list(_causes("Params have changed since last execution: before: 'a.b=1' now: 'a.b=2'"))
    ['a.b was 1, is 2']
    """
    if "Missing output" in reason:
        yield "output missing"
    if "arams have changed" in reason:
        old, new = (dict(PARAM.findall(part)) for part in reason.partition("now:")[::2])
        for key in dict.fromkeys([*old, *new]):
            yield _changed(key, old.get(key, "not set"), new.get(key, "not set"))
    if "Updated input files" in reason:
        yield "changed since: " + reason.partition("Updated input files:")[2].partition(";")[0].strip()
    if "et of input files has changed" in reason and FOLLOWS not in reason:
        yield "its set of input files changed"


def _changed(key: str, before: str, now: str) -> str:
    """The cause for a changed param. For a code digest it lists the changed modules, if both states are stored."""
    if key == "record":  # what is wrong with a record or its files
        return now
    if key != "code":
        return f"{key} was {before}, is {now}"
    cache = os.environ.get("SECATEUR_CACHE") or local(Path("conf")).cache or ".cache"
    modules = changed_code(Path(cache), before, now)
    if len(modules) > MODULES:
        modules = [*modules[:MODULES], f"and {len(modules) - MODULES} more"]
    return f"{CODE}: {', '.join(modules)}" if modules else CODE


@dataclass
class RunProgress:
    """The progress of a run, read line by line.

    rules: the rules whose messages are kept; planned: whether the table of jobs has begun; counts: planned jobs by rule;
    jobs: their sum; done: finished jobs; rule: rule of the last finished job; messages: messages of stages, MLflow and SLURM.
    """

    rules: frozenset[str]
    planned: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    jobs: int = 0
    done: int = 0
    rule: str = ""
    messages: list[str] = field(default_factory=list)

    def read(self, line: str) -> str | None:
        """Reads a line. Returns it if it is a message of a stage, of MLflow or of SLURM."""
        if steps := STEPS.match(line):
            self.jobs = int(steps[2]) - 1  # without the target
            self.done = min(int(steps[1]), self.jobs)
        elif match := DONE.match(line):
            self.rule = match[1]
        elif line.startswith("Job stats"):
            self.planned = True
        elif self.planned and not self.jobs:
            if (count := COUNT.match(line)) and count[1] == TOTAL:
                self.jobs = int(count[2]) - 1
            elif count and count[1] != TARGET:
                self.counts[count[1]] = int(count[2])
        elif line.partition(": ")[0] in {*self.rules, "SLURM"} or ("MLflow" in line and "Fix:" in line):
            self.messages.append(line)
            return line
        return None


def failure(text: str, lines: int) -> Exception:
    """The error that ended Snakemake: an OSError of the file system, else SecateurError with its last `lines` lines."""
    if refusals := REFUSED.findall(text):
        number, path = refusals[-1]
        return OSError(int(number), os.strerror(int(number)), path or None)
    output = [line for line in HEADER.sub("", text).splitlines() if line.strip() and not line.startswith(NOISE)]
    return SecateurError("\n".join(output[-lines:]) or "Snakemake ended without a message. Fix: secateur doctor")
