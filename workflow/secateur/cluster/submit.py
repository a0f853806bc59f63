"""Repeats sbatch while its refusal can pass: `python -m secateur.cluster.submit ARGUMENTS OF SBATCH`.

A controller that restarts, fails over or is busy answers again after minutes, but sbatch gives up within seconds. A limit
on the number of jobs is free again when a job ends. Any other refusal (account, partition, size, time) is final.
"""

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from secateur.core.events import emit

__all__ = ["main", "patience_with", "submit"]

AWAY = re.compile(
    "Unable to contact slurm controller|Socket timed out|Connection refused|Connection timed out|Zero Bytes were transmitted"
    "|[Tt]ransport endpoint is not connected|temporarily unable to accept job|controller not responding|in standby mode"
    "|slurm_persist|Resource temporarily unavailable"
)
POLICY = re.compile("violates accounting/QOS policy")  # of a number of jobs, or of a job's size or time
REASON = re.compile(
    r"\b(?:QOS|Assoc|Max)\w+"
)  # the limit, which newer versions of SLURM name: slurm/job_state_reason.c
NUMBER = re.compile(
    "(?:Max|Grp)(?:Submit)?Jobs?"
)  # of jobs, as in AssocGrpSubmitJobsLimit, not as in QOSMaxCpuPerJobLimit
PATIENCE = 900.0  # seconds of waiting in all; SECATEUR_SLURM_PATIENCE overrides both
PATIENCE_AT_LIMIT = 86_400.0  # the same for a job to end: as long as the longest jobs of the profile, and some
FIRST, LONGEST = 2.0, 60.0  # seconds between tries, doubled each time
LIMITED = "set `jobs` in profiles/slurm/config.yaml below the limit (sacctmgr show qos; sacctmgr show associations)"
SCRIPT = "/dev/stdin"  # where sbatch reads a job's script
Run = Callable[[Sequence[str]], subprocess.CompletedProcess]


def _run(command: Sequence[str], script: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(command, input=script, capture_output=True, text=True, check=False)


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
    emit("message", text=text)


def patience_with(errors: str) -> float:
    """Seconds to wait until a refusal of sbatch may have passed; 0 for one that is final.

    >>> patience_with("sbatch: error: QOSMaxSubmitJobPerUserLimit"), patience_with("QOSMaxWallDurationPerJobLimit")
    (86400.0, 0.0)
    """
    reasons = REASON.findall(errors)
    if any(map(NUMBER.search, reasons)):
        return PATIENCE_AT_LIMIT
    return PATIENCE if AWAY.search(errors) or (POLICY.search(errors) and not reasons) else 0.0


def submit(
    arguments: Sequence[str],
    patience: float | None = None,
    run: Run = _run,
    sleep: Callable[[float], None] = time.sleep,
) -> subprocess.CompletedProcess:
    """Call sbatch until it takes the job, refuses it for good, or was waited for. Returns the last call's result.

    patience: seconds of waiting in all; None: `patience_with` the refusal. Before each repetition it looks in the queue for
    the job, by its unique comment: a second one would write the same files.
    """
    arguments, comment = _marked(arguments)
    waited, pause, logged = 0.0, FIRST, False
    while True:
        done = run(["sbatch", *arguments])
        longest = patience_with(done.stderr) if done.returncode else 0.0
        if not longest:
            return done
        longest = longest if patience is None else patience
        refusal, is_away = done.stderr.strip(), AWAY.search(done.stderr)
        if waited >= longest:
            fix = "repeat the command when `scontrol ping` answers" if is_away else LIMITED
            what = "SLURM's controller was away for" if is_away else "no job ended that would free the limit in"
            done.stderr += f"{what} {waited:.0f} s. Fix: {fix}.\n"
            return done
        if is_away:
            _log(f"{refusal}; the next try is in {pause:.0f} s")
        elif not logged:
            limit = refusal.splitlines()[0].removeprefix("sbatch: error: ")
            _log(f"SLURM: {limit}. The next job waits until others end, for {longest / 60:.0f} minutes at most")
            logged = True
        sleep(pause)
        waited, pause = waited + pause, min(2 * pause, LONGEST)
        if job := _accepted(comment, run):
            return subprocess.CompletedProcess(done.args, 0, f"{job}\n", "")


def main() -> None:
    """Print sbatch's output and exit with its code."""
    patience = os.environ.get("SECATEUR_SLURM_PATIENCE")
    script = sys.stdin.read() if SCRIPT in sys.argv else None  # read once, for each repetition

    def run(command: Sequence[str]) -> subprocess.CompletedProcess:
        return _run(command, script if SCRIPT in command else None)

    done = submit(sys.argv[1:], float(patience) if patience else None, run)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
