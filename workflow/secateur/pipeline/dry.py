"""What Snakemake would run, from its dry run: how many jobs of which rule, what set them off, and how long that takes."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from secateur.pipeline.errors import SecateurError

__all__ = ["Dry", "dry", "estimate", "listed", "parsed", "spoken"]

JOB = re.compile(r"^Job \d+: (.*)$")
COUNT = re.compile(r"^(\w+) +(\d+)$")
PARAM = re.compile(r"'([\w.]+)=(.*?)'(?=[,\s]|$)")
NOISE = ("Using profile", "Using workflow", "Assuming unrestricted", "Building DAG", "SNAKEMAKE", "=====")
FOLLOWS = "Input files updated by another job"


@dataclass(frozen=True)
class Dry:
    """A dry run. counts: jobs by rule; causes: (job, why) of those that would run whatever the others do."""

    counts: dict[str, int]
    causes: list[tuple[str, str]]


def dry(experiment: str, overrides: Sequence[str] = ()) -> Dry:
    """What would run now. Raises SecateurError with Snakemake's own message."""
    config = ["--config", f"experiment={experiment}"]
    config += listed(overrides)
    command = [sys.executable, "-m", "snakemake", "-n", "--profile", "profiles/local", "--quiet", "host"]
    done = subprocess.run([*command, *config], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SecateurError("\n".join(spoken(done.stderr)[-3:]) or f"snakemake ended with {done.returncode}")
    return parsed(done.stdout + done.stderr)


def spoken(text: str) -> list[str]:
    """The lines of Snakemake's text that a user is meant to read, of a run that ended before its jobs."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith(NOISE)]


def listed(overrides: Sequence[str]) -> list[str]:
    """Overrides as Snakemake takes them: each quoted, for a value may be a list.

    >>> listed(["eval.budgets=[64,128]"])
    ['overrides=["eval.budgets=[64,128]"]']
    """
    return [f"overrides=[{','.join(map(json.dumps, overrides))}]"] if overrides else []


def parsed(text: str) -> Dry:
    """A dry run's text.

    >>> parsed("consolidate    2\\nall    1\\nJob 4: Consolidate a graph\\nReason: Missing output files: b\\n")
    Dry(counts={'consolidate': 2}, causes=[('Consolidate a graph', 'not made yet')])
    """
    counts, causes, job = {}, [], None
    for line in text.splitlines():
        if (found := COUNT.match(line)) and found[1] not in ("all", "total"):
            counts[found[1]] = int(found[2])
        elif found := JOB.match(line):
            job = found[1]
        elif job and line.startswith("Reason: "):
            said = "; ".join(_plain(line.removeprefix("Reason: ")))
            causes += [(job, said)] if said else []
            job = None
    return Dry(counts, causes)


def _plain(reason: str) -> Iterator[str]:
    """A reason in plain words; nothing for what another job sets off.

    >>> list(_plain("Params have changed since last execution: before: 'a.b=1', 'code=x' now: 'a.b=2', 'code=y'"))
    ['a.b was 1, is 2', 'its code changed']
    """
    if "Missing output" in reason:
        yield "not made yet"
    if "arams have changed" in reason:
        before, _, now = reason.partition("now:")
        old, new = (dict(PARAM.findall(part)) for part in (before, now))
        for key in dict.fromkeys([*old, *new]):
            yield (
                "its code changed"
                if key == "code"
                else f"{key} was {old.get(key, 'not there')}, is {new.get(key, 'not there')}"
            )
    if "Updated input files" in reason:
        yield "changed since: " + reason.partition("Updated input files:")[2].partition(";")[0].strip()
    if "et of input files has changed" in reason and FOLLOWS not in reason:
        yield "it reads other files than before"


def estimate(counts: dict[str, int], ledger: Path) -> tuple[list[dict], float, list[str]]:
    """(a row a rule, CPU seconds of those with a record, rules without one); ledger: the table job_runs.

    A job is taken to last as the median of its rule's earlier ones did here, whatever data they were of.
    """
    known: dict[str, float] = {}
    if ledger.exists():
        record = pl.col("record").str.json_path_match("$.cpu_seconds").cast(pl.Float64)
        done = pl.read_parquet(ledger).filter(~pl.col("failed")).group_by("stage").agg(record.median().alias("s"))
        known = dict(done.select("stage", "s").iter_rows())
    rows = [
        {
            "rule": rule,
            "jobs": count,
            "CPU s each": known.get(rule),
            "CPU s": known[rule] * count if rule in known else None,
        }
        for rule, count in counts.items()
    ]
    return rows, sum(row["CPU s"] or 0 for row in rows), [rule for rule in counts if rule not in known]
