"""Reads the states of SLURM jobs: squeue knows those of the last minutes, sacct (with accounting) all of them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

__all__ = ["ACTIVE", "UNCONFIGURED", "ask", "nodes", "reason", "states"]

ACTIVE = frozenset(  # JOB STATE CODES in squeue(1); any other state means that the job has ended
    ["PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"]
    + ["REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT", "PREEMPTED"]
)
UNCONFIGURED = re.compile("configuration source|slurm.conf|DNS SRV", re.I)  # SLURM is installed, but not configured
SQUEUE = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T"]
SACCT = ["sacct", "--allocations", "--noheader", "--parsable2"]
KILLED = "0:9"  # exit code for SIGKILL: without cgroups, sacct reports it for a job over its memory
LIMIT = 60  # seconds for a SLURM command
COLUMNS = ("State", "ExitCode", "NodeList", "Timelimit", "Elapsed")
Ask = Callable[[Sequence[str]], Awaitable[str | None]]


async def ask(command: Sequence[str]) -> str | None:
    """The output of a SLURM command; None if the command is missing, fails or exceeds LIMIT."""
    try:
        child = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except FileNotFoundError:
        return None
    try:
        output, _ = await asyncio.wait_for(child.communicate(), LIMIT)
    except TimeoutError:
        child.kill()
        await child.wait()
        return None
    return output.decode() if child.returncode == 0 else None


def _read(output: str) -> dict[str, str]:
    """State by job id. Only the first word counts: sacct writes `CANCELLED by 1000` and `RUNNING+`."""
    rows = (line.split("|")[:2] for line in output.splitlines() if "|" in line)
    return {job.strip(): re.split(r"[ +]", state.strip(), maxsplit=1)[0] for job, state in rows if state.strip()}


async def states(run: str, jobs: Iterable[str], ask: Ask = ask) -> dict[str, str] | None:
    """State by id of the jobs of a run, without unknown jobs; None if neither squeue nor sacct answers.

    slurmctld forgets a job MinJobAge seconds after its end, so sacct is asked for the jobs that squeue does not list. Of
    these, a job that sacct calls active has just ended or was lost: it is left out. If squeue does not answer, every job
    without an end in sacct counts as active.
    """
    wanted = set(jobs)
    queue = await ask([*SQUEUE, f"--name={run}"])
    job_states = {job: state for job, state in _read(queue or "").items() if job in wanted}
    absent = sorted(wanted - set(job_states))
    account = await ask([*SACCT, "--format=JobID,State", f"--jobs={','.join(absent)}"]) if absent else ""
    if queue is None and account is None:
        return None
    job_states |= {job: state for job, state in _read(account or "").items() if job in wanted and state not in ACTIVE}
    return job_states if queue is not None else dict.fromkeys(wanted, "PENDING") | job_states


async def reason(job: str, state: str, mem_mb: int, ask: Ask = ask) -> str:
    """Why a job ended, in one line: its state, with details of accounting if it answers.

    mem_mb: the requested memory; sacct can print `16?` for it in the second after a short job's end.
    """
    output = await ask([*SACCT, f"--format={','.join(COLUMNS)}", f"--jobs={job}"])
    if not output or not output.strip():
        return state
    full, code, nodes, limit, elapsed = output.splitlines()[0].split("|")
    details = {
        "OUT_OF_MEMORY": f"it was granted {mem_mb}M",
        "TIMEOUT": f"it was granted {limit}",
        "NODE_FAIL": f"on {nodes}",
        "FAILED": f"exit code {code}, after {elapsed}" + (f"; it was granted {mem_mb}M" if code == KILLED else ""),
        "CANCELLED": f"after {elapsed}",
    }.get(state)
    return f"{full} ({details})" if details else full


async def nodes(job: str, ask: Ask = ask) -> set[str]:
    """The nodes of a job, by accounting."""
    output = await ask([*SACCT, "--format=NodeList", f"--jobs={job}"])
    return {name for name in (output or "").split() if not name.startswith("None")}
