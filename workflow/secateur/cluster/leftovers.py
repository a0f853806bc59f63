"""Finds and cancels the SLURM jobs of a killed driver, and remembers its command."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.cluster.states import ACTIVE, UNCONFIGURED
from secateur.core.artifacts import read_json, write_json
from secateur.core.errors import SecateurError

__all__ = ["Driver", "Waiting", "cancel", "jobs", "remember", "remembered"]

NOTE = Path(".snakemake/secateur.json")
QUEUE = ["squeue", "--me", "--noheader", "--array", "--format=%i|%T|%k|%Z"]
LIMIT = 300.0  # seconds in which cancelled jobs must leave the queue
Run = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True)
class Driver:
    """The last driver of a folder: Snakemake's arguments, host and process id."""

    arguments: list[str]
    host: str
    process: int


@dataclass(frozen=True)
class Waiting:
    """A job in SLURM's queue."""

    job: str
    state: str
    rule: str


def remember(arguments: Sequence[str], note: Path = NOTE) -> None:
    """Store this process as the folder's driver. arguments: Snakemake's."""
    write_json(note, {"arguments": list(arguments), "host": socket.gethostname(), "process": os.getpid()})


def remembered(note: Path = NOTE) -> Driver:
    """The last driver of the folder. Raises SecateurError if there was none."""
    if not note.exists():
        raise SecateurError(f"{note}: no run was started in this folder. Fix: make run, or snakemake --profile slurm")
    return Driver(**read_json(note))


def _run(command: Sequence[str]) -> str | None:
    """The output of a SLURM command; None without SLURM. Raises SecateurError if SLURM does not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired:
        raise SecateurError(f"{command[0]}: no answer in a minute. Fix: wait until SLURM answers again") from None
    if done.returncode == 0:
        return done.stdout
    if UNCONFIGURED.search(done.stderr):
        return None
    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    raise SecateurError(f"{command[0]}: {reason}. Fix: wait until SLURM answers again")


def jobs(folder: Path, run: Run = _run) -> list[Waiting]:
    """The active jobs that any driver submitted from a folder; none without SLURM."""
    active = []
    for line in (run(QUEUE) or "").splitlines():
        job, state, comment, place = line.split("|", 3)
        is_snakemake = comment.startswith(("rule_", "group_"))
        if Path(place).resolve() == folder.resolve() and is_snakemake and state in ACTIVE:
            rule = comment.partition("_wildcards_")[0].partition(" #")[0].partition("_")[2]
            active.append(Waiting(job, state, rule))
    return active


def cancel(folder: Path, run: Run = _run, sleep: Callable[[float], None] = time.sleep) -> list[Waiting]:
    """Cancel the jobs of a folder and wait until none is active, since two writers would write the same files.

    Raises SecateurError if jobs stay in the queue.
    """
    cancelled = jobs(folder, run)
    if cancelled:
        run(["scancel", *(waiting.job for waiting in cancelled)])
    waited = 0.0
    while active := jobs(folder, run):
        if waited > LIMIT:
            raise SecateurError(
                f"SLURM jobs {', '.join(waiting.job for waiting in active)} of this folder were cancelled and are still "
                "active. Fix: squeue --me, scancel them, then repeat the command"
            )
        sleep(1.0)
        waited += 1.0
    return cancelled
