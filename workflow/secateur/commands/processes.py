"""Finds the processes of this folder on this machine, drivers of runs and their jobs, and ends a run with its jobs."""

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

__all__ = ["drivers", "end", "workers"]

SERVING = "secateur/stage/worker.py"  # the end of the path of a process that runs stage after stage
WAITING = ("idle", "python")  # names of such a process that runs nothing
GRACE = 10  # seconds in which a job that is ended must write its record


def _command_lines() -> Iterator[tuple[Path, list[str]]]:
    """(folder in /proc, arguments) of each readable process."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            yield entry, (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue


def workers() -> dict[int, str]:
    """The rule of each running job, by process id; cut to 15 characters in a process that runs one after another."""
    scripts, found = str(Path.cwd() / ".snakemake" / "scripts"), {}
    for entry, parts in _command_lines():
        names = [Path(part).name.split(".", 1)[1].removesuffix(".py") for part in parts if part.startswith(scripts)]
        if any(part.endswith(SERVING) for part in parts) and _is_here(entry):
            names = [name for name in [_name(entry)] if not name.startswith(WAITING)]
        found |= {int(entry.name): name for name in names}
    return found


def _name(entry: Path) -> str:
    try:
        return (entry / "comm").read_text().strip()
    except OSError:
        return WAITING[0]


def drivers() -> list[int]:
    """Process ids of the Snakemakes that drive a run; dry runs and Snakemakes inside jobs do not count."""
    return sorted(
        int(entry.name)
        for entry, parts in _command_lines()
        if "python" in parts[0]
        and any(part.rpartition("/")[2] == "snakemake" for part in parts)
        and not {"-n", "--mode"} & set(parts)
        and _is_here(entry)
    )


def _is_here(entry: Path) -> bool:
    try:
        return (entry / "cwd").resolve() == Path.cwd()
    except OSError:
        return False


def end(driver: subprocess.Popen) -> None:
    """End a driver and the jobs that it started, and wait for it. Snakemake alone would wait until its jobs are done.

    After a second, in which Ctrl-C may have ended them, each job gets a SIGTERM, upon which it writes why it ended. Jobs
    that are still there after GRACE seconds are killed.
    """
    jobs: set[int] = set()
    driver.send_signal(signal.SIGINT)  # Snakemake cancels what it submitted, starts nothing else, and unlocks
    for seconds in count(1):
        with suppress(subprocess.TimeoutExpired):
            driver.communicate(timeout=1)
            return
        new = {job for job in workers() if driver.pid in _ancestors(job)} - jobs
        _signal(new, signal.SIGTERM)
        jobs |= new
        if seconds == GRACE:
            _signal(jobs & set(workers()), signal.SIGKILL)


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _ancestors(process: int) -> Iterator[int]:
    """The ids of a process's parent, of its parent, and so on."""
    with suppress(OSError):  # one of them has ended
        while process > 1:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
            yield process
