"""What a driver that was killed left behind: jobs that go on, a lock, and the command that it was."""

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
LIMIT = 300.0  # seconds until jobs that were cancelled must have left the queue
Run = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True)
class Driver:
    """The command that last drove a run here: Snakemake's arguments, where it ran."""

    arguments: list[str]
    host: str
    process: int


@dataclass(frozen=True)
class Waiting:
    """A job of a folder in SLURM's queue."""

    job: str
    state: str
    rule: str


def remember(arguments: Sequence[str], note: Path = NOTE) -> None:
    """Note the command that drives a run of this folder from now on."""
    write_json(note, {"arguments": list(arguments), "host": socket.gethostname(), "process": os.getpid()})


def remembered(note: Path = NOTE) -> Driver:
    """The last command. Raises SecateurError where there was none."""
    if not note.exists():
        raise SecateurError(f"{note}: no run was started in this folder. Fix: make run, or snakemake --profile slurm")
    return Driver(**read_json(note))


def _run(command: Sequence[str]) -> str | None:
    """What a command of SLURM prints; None where there is no SLURM. Raises SecateurError where it does not answer."""
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
    said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    raise SecateurError(f"{command[0]}: {said}. Fix: wait until SLURM answers again")


def jobs(folder: Path, run: Run = _run) -> list[Waiting]:
    """The active jobs that were submitted from a folder, whichever driver did; none where there is no SLURM."""
    found = []
    for line in (run(QUEUE) or "").splitlines():
        job, state, comment, *where = line.split("|")
        if (
            Path("|".join(where)).resolve() == folder.resolve()
            and comment.startswith(("rule_", "group_"))
            and state in ACTIVE
        ):
            found.append(Waiting(job, state, comment.partition("_wildcards_")[0].partition(" #")[0].partition("_")[2]))
    return found


def cancel(folder: Path, run: Run = _run, sleep: Callable[[float], None] = time.sleep) -> list[Waiting]:
    """Cancel the jobs of a folder and wait until none is active: a second writer would write the same files.

    Raises SecateurError where they do not leave the queue.
    """
    left = jobs(folder, run)
    if left:
        run(["scancel", *(one.job for one in left)])
    waited = 0.0
    while still := jobs(folder, run):
        if waited > LIMIT:
            raise SecateurError(
                f"SLURM jobs {', '.join(one.job for one in still)} of this folder were cancelled and are still active."
                " Fix: squeue --me, scancel them; then run it again"
            )
        sleep(1.0)
        waited += 1.0
    return left
