"""What Snakemake would run, from its dry run: how many jobs of which rule, and what set them off."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.pipeline.errors import SecateurError

__all__ = ["Dry", "counted", "dry", "failure", "given", "listed", "parsed", "spoken"]

JOB = re.compile(r"^Job \d+: (.*)$")
COUNT = re.compile(r"^(\w+) +(\d+)$")
PARAM = re.compile(r"'([\w.]+)=(.*?)'(?=[,\s]|$)")
REFUSED = re.compile(r"^\w*Error: \[Errno (\d+)\] [^:\n]*(?:: '(.*)')?$", re.M)
NOISE = ("Using profile", "Using workflow", "Assuming unrestricted", "Building DAG", "SNAKEMAKE", "=====")
FOLLOWS = "Input files updated by another job"


@dataclass(frozen=True)
class Dry:
    """A dry run. counts: jobs by rule; causes: (job, why) of those that would run whatever the others do."""

    counts: dict[str, int]
    causes: list[tuple[str, str]]


def dry(experiment: str, overrides: Sequence[str] = (), data: Path | None = None) -> Dry:
    """What would run now. Raises SecateurError with Snakemake's own message."""
    command = [sys.executable, "-m", "snakemake", "-n", "--profile", "profiles/local", "--quiet", "host"]
    command += given(experiment, overrides, data)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise failure(done.stdout + done.stderr, 3)
    return parsed(done.stdout + done.stderr)


def failure(text: str, lines: int) -> Exception:
    """What Snakemake ended with: what the file system refused it, else the last of its own words."""
    if found := REFUSED.findall(text):
        number, path = found[-1]
        return OSError(int(number), os.strerror(int(number)), path or None)
    return SecateurError("\n".join(spoken(text)[-lines:]) or "Snakemake ended without a word. Fix: secateur doctor")


def spoken(text: str) -> list[str]:
    """The lines of Snakemake's text that a user is meant to read, of a run that ended before its jobs."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith(NOISE)]


def given(experiment: str, overrides: Sequence[str] = (), data: Path | None = None) -> list[str]:
    """An experiment as Snakemake takes it. data: a folder of one's own.

    >>> given("custom", data=Path("/mine"))
    ['--config', 'experiment=custom', 'data="/mine"']
    """
    folder = [f"data={json.dumps(str(data.resolve()), ensure_ascii=False)}"] if data else []
    return ["--config", f"experiment={experiment}", *folder, *listed(overrides)]


def listed(overrides: Sequence[str]) -> list[str]:
    """Overrides as Snakemake takes them: each quoted, for a value may be a list.

    >>> listed(["eval.budgets=[64,128]"])
    ['overrides=["eval.budgets=[64,128]"]']
    """
    return [f"overrides=[{','.join(map(json.dumps, overrides))}]"] if overrides else []


def counted(line: str) -> dict[str, int]:
    """The jobs of a rule that a line of Snakemake's table states; nothing for its target and its sum."""
    found = COUNT.match(line)
    return {found[1]: int(found[2])} if found and found[1] not in ("all", "total") else {}


def parsed(text: str) -> Dry:
    """A dry run's text.

    >>> parsed("consolidate    2\\nall    1\\nJob 4: Consolidate a graph\\nReason: Missing output files: b\\n")
    Dry(counts={'consolidate': 2}, causes=[('Consolidate a graph', 'not made yet')])
    """
    counts, causes, job = {}, [], None
    for line in text.splitlines():
        if found := counted(line):
            counts |= found
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
