"""What Snakemake's events say: jobs that would run and why, the progress of a run, and errors."""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from secateur.config.compose import local
from secateur.core.artifacts import read_json
from secateur.core.errors import SecateurError
from secateur.stage.provenance import changed_code

__all__ = ["CODE", "Job", "Progress", "failure", "planned_job", "tail"]

Event = Mapping[str, Any]
PARAM = re.compile(r"'([\w.]+)=(.*?)'(?=[,\s]|$)")
REFUSED = re.compile(r"^\w*Error: \[Errno (\d+)\] [^:\n]*(?:: '(.*)')?$", re.M)
LINES = 30  # last lines of Snakemake's output in a message, where no event says why it ended
MODULES = 6  # changed modules listed for a rule
CODE = "its code changed"
FOLLOWS = "Input files updated by another job"


@dataclass(frozen=True)
class Job:
    """A job that would run. record: path of its run.json; cause: why it runs, empty if another job causes it."""

    rule: str
    record: str
    message: str = ""
    cause: str = ""


def planned_job(event: Event) -> Job | None:
    """The job of a dry run's JOB_INFO; None for Snakemake's target, which runs no stage.

    Its reason is the one text in which Snakemake hands on what changed.

    >>> planned_job({"rule_name": "a", "rule_msg": "Do A", "output": ["a/run.json"], "reason": "Missing output files: b"})
    Job(rule='a', record='a/run.json', message='Do A', cause='output missing')
    """
    if record := _record(event):
        return Job(event["rule_name"], record, event["rule_msg"], "; ".join(_causes(event["reason"])))
    return None


def _record(event: Event) -> str | None:
    return next((path for path in event["output"] if path.endswith("/run.json")), None)


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
class Progress:
    """The progress of a run, read event by event.

    jobs: those that the run will do, None until it has planned them; done: how many have finished; rule: that of the last
    one; running: rules of submitted jobs by Snakemake's number; messages: for people, from stages, MLflow and SLURM;
    errors: Snakemake's.
    """

    started: float = field(default_factory=time.time)
    jobs: list[Job] | None = None
    done: int = 0
    rule: str = ""
    running: dict[int, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    errors: list[Event] = field(default_factory=list)

    def read(self, event: Event) -> str | None:
        """Take an event in. Returns the message in it, if there is one."""
        match event["event"]:
            case "planned":
                self.jobs = [Job(*job) for job in event["jobs"]]
            case "job_info" if _record(event):
                self.running[event["jobid"]] = event["rule_name"]
            case "job_finished" if rule := self.running.pop(event["job_id"], None):
                self.rule, self.done = rule, self.done + 1
            case "job_error":
                self.running.pop(event["jobid"], None)
                return self._message(self._failure(event))
            case "error":
                self.errors.append(event)
            case "message":
                return self._message(event["text"])
        return None

    def _message(self, text: str | None) -> str | None:
        self.messages += [text] if text else []
        return text

    def _failure(self, event: Event) -> str | None:
        """Why a job failed, as its stage recorded it; None if it was killed first, or has not failed in this run."""
        path = Path(_record(event) or "").with_name("failure.json")
        if not path.is_file() or path.stat().st_mtime < self.started:
            return None
        failure = read_json(path)["failure"]
        return f"{event['rule_name']}: {failure.partition(': ')[2] if 'Fix:' in failure else failure}"


def failure(messages: Sequence[str], errors: Sequence[Event], output: str) -> Exception:
    """The error that ended Snakemake: an OSError of the file system, else SecateurError.

    Snakemake logs an OSError as a traceback, and other faults as a text. Without either, the end of its output is quoted.
    """
    if refusals := REFUSED.findall("\n".join(error["msg"] for error in errors) or output):
        number, path = refusals[-1]
        return OSError(int(number), os.strerror(int(number)), path or None)
    return SecateurError("\n".join(messages or [error["msg"].strip() for error in errors[-1:]]) or tail(output))


def tail(output: str) -> str:
    """The last lines of Snakemake's output, without empty ones."""
    lines = [line for line in output.splitlines() if line.strip()]
    return "\n".join(lines[-LINES:]) or "Snakemake ended without a message. Fix: secateur doctor"
