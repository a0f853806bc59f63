"""Finds the processes of this folder on this machine, drivers of runs and their jobs, and ends a run with its jobs."""

import signal
import subprocess
from contextlib import suppress
from itertools import count
from pathlib import Path

import psutil

__all__ = ["drivers", "end", "workers"]

SERVING = "secateur/stage/worker.py"  # the end of the path of a process that runs stage after stage
WAITING = ("idle", "python")  # names of such a process that runs nothing
GRACE = 10  # seconds in which a job that is ended must write its record


def workers() -> dict[int, str]:
    """The rule of each running job, by process id; cut to 15 characters in a process that runs one after another."""
    scripts, jobs = str(Path.cwd() / ".snakemake" / "scripts"), {}
    for process in psutil.process_iter(["cmdline", "cwd", "name"]):
        arguments = process.info["cmdline"] or []  # None of a process that has ended, or of another user
        names = [Path(part).name.split(".", 1)[1].removesuffix(".py") for part in arguments if part.startswith(scripts)]
        if any(part.endswith(SERVING) for part in arguments) and _is_here(process):
            names = [name for name in [process.info["name"]] if not name.startswith(WAITING)]
        if names:
            jobs[process.pid] = names[-1]
    return jobs


def drivers() -> list[int]:
    """Process ids of the Snakemakes that drive a run; dry runs and Snakemakes inside jobs do not count."""
    return sorted(
        process.pid
        for process in psutil.process_iter(["cmdline", "cwd"])
        if (arguments := process.info["cmdline"])
        and "python" in arguments[0]
        and any(part.rpartition("/")[2] == "snakemake" for part in arguments)
        and not {"-n", "--mode"} & set(arguments)
        and _is_here(process)
    )


def _is_here(process: psutil.Process) -> bool:
    return process.info["cwd"] is not None and Path(process.info["cwd"]).resolve() == Path.cwd()


def end(driver: subprocess.Popen) -> None:
    """End a driver and the jobs that it started, and wait for it. Snakemake alone would wait until its jobs are done.

    After a second, in which Ctrl-C may have ended them, each job gets a SIGTERM, upon which it writes why it ended. Jobs
    that are still there after GRACE seconds are killed.
    """
    jobs: set[psutil.Process] = set()
    driver.send_signal(signal.SIGINT)  # Snakemake cancels what it submitted, starts nothing else, and unlocks
    for seconds in count(1):
        with suppress(subprocess.TimeoutExpired):
            driver.communicate(timeout=1)
            return
        running = workers()
        new = {job for job in psutil.Process(driver.pid).children(recursive=True) if job.pid in running} - jobs
        for job in new:
            with suppress(psutil.NoSuchProcess):
                job.terminate()
        jobs |= new
        for job in jobs if seconds == GRACE else ():
            with suppress(psutil.NoSuchProcess):
                job.kill()
