"""What Snakemake would run, from its dry run: how many jobs of which rule, and what set them off."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.config.compose import local
from secateur.core.errors import SecateurError
from secateur.stage.provenance import changed_code

__all__ = ["Dry", "counted", "dry", "failure", "given", "listed", "parsed", "spoken"]

JOB = re.compile(r"^Job \d+: (.*)$")
COUNT = re.compile(r"^(\w+) +(\d+)$")
PARAM = re.compile(r"'([\w.]+)=(.*?)'(?=[,\s]|$)")
REFUSED = re.compile(r"^\w*Error: \[Errno (\d+)\] [^:\n]*(?:: '(.*)')?$", re.M)
NOISE = ("Using profile", "Using workflow", "Assuming unrestricted", "Building DAG", "SNAKEMAKE", "=====")
MODULES = 6  # parts of a rule's code that are named
FOLLOWS = "Input files updated by another job"


@dataclass(frozen=True)
class Dry:
    """A dry run. counts: jobs by rule; causes: (job, why) of those that would run whatever the others do."""

    counts: dict[str, int]
    causes: list[tuple[str, str]]


def dry(experiment: str, overrides: Sequence[str] = (), data: Path | None = None, target: Path | None = None) -> Dry:
    """What would run now, for an experiment or for one file of its results. Raises SecateurError with Snakemake's own
    message."""
    command = [sys.executable, "-m", "snakemake", "-n", "--profile", "profiles/local", "--quiet", "host"]
    command += given(experiment, overrides, data)
    command += ["--", str(target)] if target else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if target and "MissingRuleException" in text:
        raise SecateurError(f"{target}: no rule makes it. Fix: name a file or folder of results/ as a run leaves it.")
    if done.returncode != 0:
        raise failure(text, 3)
    return parsed(text)


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

    >>> list(_plain("Params have changed since last execution: before: 'a.b=1' now: 'a.b=2'"))
    ['a.b was 1, is 2']
    """
    if "Missing output" in reason:
        yield "not made yet"
    if "arams have changed" in reason:
        old, new = (dict(PARAM.findall(part)) for part in reason.partition("now:")[::2])
        for key in dict.fromkeys([*old, *new]):
            yield _changed(key, old.get(key, "not there"), new.get(key, "not there"))
    if "Updated input files" in reason:
        yield "changed since: " + reason.partition("Updated input files:")[2].partition(";")[0].strip()
    if "et of input files has changed" in reason and FOLLOWS not in reason:
        yield "it reads other files than before"


def _changed(key: str, before: str, now: str) -> str:
    """A param that changed; of the code which parts, as far as both states of it were noted."""
    if key != "code":
        return f"{key} was {before}, is {now}"
    cache = os.environ.get("SECATEUR_CACHE") or local(Path("conf")).cache or ".cache"
    names = changed_code(Path(cache), before, now)
    if len(names) > MODULES:
        names = [*names[:MODULES], f"and {len(names) - MODULES} more"]
    return f"its code changed: {', '.join(names)}" if names else "its code changed"
