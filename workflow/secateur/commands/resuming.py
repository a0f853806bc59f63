"""`secateur resume`: go on with a run whose driver was killed, or whose terminal was closed."""

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
from secateur.core.errors import SecateurError

__all__ = ["resume"]

WAIT = 60  # seconds that a job has to write its record and end


def resume(
    anyway: Annotated[bool, Option("--anyway", help="The driver on another machine is known to be dead.")] = False,
    only_clean: Annotated[
        bool, Option("--only-clean", help="Stop jobs that were left, unlock, start nothing.")
    ] = False,
) -> None:
    """Go on with a run that was killed: stop the jobs it left behind, unlock the folder, run its command again."""
    last = remembered()
    _alone(last, anyway)
    for job in cancel(Path.cwd()):
        print(f"cancelled  SLURM job {job.job} ({job.rule}, {job.state.lower()})")
    _stop_workers()
    _unlock(last)
    if not only_clean:
        print(f"snakemake {' '.join(last.arguments)}", flush=True)
        os.execv(sys.executable, [sys.executable, "-m", "snakemake", *last.arguments])


def _alone(last: Driver, anyway: bool) -> None:
    """Refuses where a driver is at work: two would write the same files."""
    if running := drivers():
        raise SecateurError(f"a run is driven here by process {running[0]}. Fix: wait for it, or end it with Ctrl-C")
    if last.host != socket.gethostname() and any(Path(".snakemake/locks").glob("*")) and not anyway:
        raise SecateurError(
            f"the last run was driven on {last.host}, by process {last.process}, and may go on there. "
            "Fix: look there; where it is dead, secateur resume --anyway"
        )


def _stop_workers() -> None:
    """Ends the jobs that still run on this machine; each writes why it ended."""
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
    raise SecateurError(f"process {min(workers())} of this folder does not end. Fix: kill -9 it, then run it again")


def _unlock(last: Driver) -> None:
    command = [sys.executable, "-m", "snakemake", "--unlock", *last.arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SecateurError(f"the folder cannot be unlocked: {done.stderr.strip()}")
