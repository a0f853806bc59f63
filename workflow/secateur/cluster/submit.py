"""sbatch with patience: `python -m secateur.cluster.submit ARGUMENTS OF SBATCH`.

A controller that restarts, fails over or is busy answers again after minutes; sbatch itself gives up within seconds. What
it refuses for any other reason (an account, a partition, a limit) is refused at once.
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
PATIENCE = 900.0  # seconds until it is given up; SECATEUR_SLURM_PATIENCE
FIRST, LONGEST = 2.0, 60.0  # seconds between tries: doubled each time
Run = Callable[[Sequence[str]], subprocess.CompletedProcess]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _marked(arguments: Sequence[str]) -> tuple[list[str], str]:
    """The arguments with a comment that no other call has, and that comment."""
    found = list(arguments)
    at = found.index("--comment") + 1 if "--comment" in found else 0
    comment = f"{found[at] if at else ''} #{secrets.token_hex(6)}".strip()
    if at:
        found[at] = comment
    else:
        found[:0] = ["--comment", comment]
    return found, comment


def _accepted(comment: str, run: Run) -> str | None:
    """The id under which a job was taken although the answer was lost."""
    listed = run(["squeue", "--noheader", "--states=all", "--format=%i|%k"])
    for line in listed.stdout.splitlines() if listed.returncode == 0 else []:
        job, _, said = line.partition("|")
        if said == comment:
            return job
    return None


def _tell(text: str) -> None:
    """Say it where the driver speaks: the executor plugin keeps what this process says until it ends."""
    driver = Path(f"/proc/{os.environ.get('SECATEUR_DRIVER', 'self')}/fd/2")
    try:
        with driver.open("a") as stream:
            print(text, file=stream, flush=True)
    except OSError:  # a terminal of somebody else, a system without /proc
        print(text, file=sys.stderr, flush=True)


def submit(
    arguments: Sequence[str],
    patience: float = PATIENCE,
    run: Run = _run,
    sleep: Callable[[float], None] = time.sleep,
) -> subprocess.CompletedProcess:
    """Call sbatch until it is answered or patience (seconds of waiting) is out; its last word.

    Before each further try the queue is asked whether the job was taken after all, two would write the same files: the
    job's comment bears a mark of this call.
    """
    arguments, comment = _marked(arguments)
    waited, pause = 0.0, FIRST
    while True:
        done = run(["sbatch", *arguments])
        if done.returncode == 0 or not AWAY.search(done.stderr):
            return done
        if waited >= patience:
            done.stderr += (
                f"SLURM's controller was away for {waited:.0f} s. Fix: run it again once `scontrol ping` answers.\n"
            )
            return done
        _tell(f"{done.stderr.strip()}; the next try is in {pause:.0f} s")
        sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST)
        if job := _accepted(comment, run):
            return subprocess.CompletedProcess(done.args, 0, f"{job}\n", "")


def main() -> None:
    """Print what sbatch prints, end as it ends."""
    done = submit(sys.argv[1:], float(os.environ.get("SECATEUR_SLURM_PATIENCE", PATIENCE)))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
