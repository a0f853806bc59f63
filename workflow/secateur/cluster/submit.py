"""Repeats sbatch while SLURM's controller is away: `python -m secateur.cluster.submit ARGUMENTS OF SBATCH`.

A controller that restarts, fails over or is busy answers again after minutes, but sbatch gives up within seconds. Any other
refusal (account, partition, limit) is final.
"""

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["main", "submit"]

AWAY = re.compile(
    "Unable to contact slurm controller|Socket timed out|Connection refused|Connection timed out|Zero Bytes were transmitted"
    "|[Tt]ransport endpoint is not connected|temporarily unable to accept job|controller not responding|in standby mode"
    "|slurm_persist|Resource temporarily unavailable"
)
PATIENCE = 900.0  # seconds of waiting in all; SECATEUR_SLURM_PATIENCE overrides it
FIRST, LONGEST = 2.0, 60.0  # seconds between tries, doubled each time
Run = Callable[[Sequence[str]], subprocess.CompletedProcess]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _marked(arguments: Sequence[str]) -> tuple[list[str], str]:
    """The arguments with a unique comment, and that comment."""
    marked = list(arguments)
    if "--comment" not in marked:
        marked[:0] = ["--comment", ""]
    at = marked.index("--comment") + 1
    marked[at] = f"{marked[at]} #{secrets.token_hex(6)}".strip()
    return marked, marked[at]


def _accepted(comment: str, run: Run) -> str | None:
    """The id of a job that SLURM accepted although its answer was lost; None if there is none."""
    listed = run(["squeue", "--noheader", "--states=all", "--format=%i|%k"])
    for line in listed.stdout.splitlines() if listed.returncode == 0 else []:
        job, _, text = line.partition("|")
        if text == comment:
            return job
    return None


def _log(text: str) -> None:
    """Writes to the driver's stderr, since the plugin holds back this process's output until its end."""
    driver = Path(f"/proc/{os.environ.get('SECATEUR_DRIVER', 'self')}/fd/2")
    try:
        with driver.open("a") as stream:
            print(text, file=stream, flush=True)
    except OSError:  # another user's terminal, or a system without /proc
        print(text, file=sys.stderr, flush=True)


def submit(
    arguments: Sequence[str],
    patience: float = PATIENCE,
    run: Run = _run,
    sleep: Callable[[float], None] = time.sleep,
) -> subprocess.CompletedProcess:
    """Call sbatch until the controller answers, or for `patience` seconds of waiting. Returns the last call's result.

    Before each repetition it looks in the queue for the job, by its unique comment: a second one would write the same files.
    """
    arguments, comment = _marked(arguments)
    waited, pause = 0.0, FIRST
    while True:
        done = run(["sbatch", *arguments])
        if done.returncode == 0 or not AWAY.search(done.stderr):
            return done
        if waited >= patience:
            done.stderr += f"SLURM's controller was away for {waited:.0f} s. Fix: repeat the command when `scontrol ping` answers.\n"
            return done
        _log(f"{done.stderr.strip()}; the next try is in {pause:.0f} s")
        sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST)
        if job := _accepted(comment, run):
            return subprocess.CompletedProcess(done.args, 0, f"{job}\n", "")


def main() -> None:
    """Print sbatch's output and exit with its code."""
    done = submit(sys.argv[1:], float(os.environ.get("SECATEUR_SLURM_PATIENCE", PATIENCE)))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
