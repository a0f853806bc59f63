"""`secateur resume`: continue a run whose driver was killed, or whose terminal was closed."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from typer import Option

from secateur.cluster.leftovers import Driver, cancel, remembered
from secateur.commands.processes import drivers, workers
from secateur.core.errors import SecateurError, needs

__all__ = ["resume"]

WAIT = 60  # seconds in which a job must write its record and end


def resume(
    anyway: Annotated[
        bool, Option("--anyway", help="Ignore a driver on another machine that you know is dead.")
    ] = False,
    only_clean: Annotated[
        bool, Option("--only-clean", help="Stop leftover jobs and unlock, but start nothing.")
    ] = False,
) -> None:
    """Continue a killed run: stop its leftover jobs, unlock the folder, repeat its command."""
    needs("snakemake")
    last = remembered()
    _check_alone(last, anyway)
    for job in cancel(Path.cwd()):
        print(f"cancelled  SLURM job {job.job} ({job.rule}, {job.state.lower()})")
    _stop_workers()
    _unlock(last)
    if not only_clean:
        print(f"snakemake {' '.join(last.arguments)}", flush=True)
        os.execv(sys.executable, [sys.executable, "-m", "snakemake", *last.arguments])


def _check_alone(last: Driver, anyway: bool) -> None:
    """Raises SecateurError if another driver may be active: two would write the same files."""
    if running := drivers():
        raise SecateurError(
            f"process {running[0]} drives a run in this folder. Fix: wait for it, or end it with Ctrl-C"
        )
    if last.host != socket.gethostname() and any(Path(".snakemake/locks").glob("*")) and not anyway:
        raise SecateurError(
            f"process {last.process} on {last.host} drove the last run and may still be active. "
            "Fix: check there; if it is dead, secateur resume --anyway"
        )


def _stop_workers() -> None:
    """Terminates the jobs that still run on this machine; each writes why it ended."""
    reported: set[int] = set()
    for _ in range(WAIT):
        jobs = workers()
        if not jobs:
            return
        for process, rule in jobs.items():
            if process not in reported:
                print(f"stopping   process {process} ({rule})")
            reported.add(process)
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        time.sleep(1)
    raise SecateurError(
        f"process {min(workers())} of this folder did not end in {WAIT} s. Fix: kill -9 it, then repeat the command"
    )


def _unlock(last: Driver) -> None:
    command = [sys.executable, "-m", "snakemake", "--unlock", *last.arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SecateurError(f"the folder cannot be unlocked: {done.stderr.strip()}")
