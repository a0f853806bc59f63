"""How jobs of SLURM stand: squeue knows those of the last minutes, sacct, where there is accounting, all of them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

__all__ = ["ACTIVE", "UNCONFIGURED", "ask", "nodes", "reason", "states"]

ACTIVE = frozenset(  # of squeue(1), JOB STATE CODES; a job in any other state has ended
    ["PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"]
    + ["REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT", "PREEMPTED"]
)
UNCONFIGURED = re.compile("configuration source|slurm.conf|DNS SRV", re.I)  # SLURM was installed, and never set up
SQUEUE = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T"]
SACCT = ["sacct", "--allocations", "--noheader", "--parsable2"]
KILLED = "0:9"  # SIGKILL: what sacct says of a job over its memory where SLURM looks for itself, without cgroups
LIMIT = 60  # seconds for one of SLURM's commands
TOLD = ("State", "ExitCode", "NodeList", "Timelimit", "Elapsed")
Ask = Callable[[Sequence[str]], Awaitable[str | None]]


async def ask(command: Sequence[str]) -> str | None:
    """What a command of SLURM prints; None where there is no such command, or it fails, or says nothing in time."""
    try:
        child = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except FileNotFoundError:
        return None
    try:
        said, _ = await asyncio.wait_for(child.communicate(), LIMIT)
    except TimeoutError:
        child.kill()
        await child.wait()
        return None
    return said.decode() if child.returncode == 0 else None


def _read(said: str) -> dict[str, str]:
    """State by job id: the first word alone, since sacct writes `CANCELLED by 1000` and `RUNNING+`."""
    rows = (line.split("|")[:2] for line in said.splitlines() if "|" in line)
    return {job.strip(): re.split(r"[ +]", state.strip(), maxsplit=1)[0] for job, state in rows if state.strip()}


async def states(run: str, jobs: Iterable[str], ask: Ask = ask) -> dict[str, str] | None:
    """How the jobs of a run stand, by id; those nobody knows are left out. None where nobody answered at all.

    slurmctld forgets a job MinJobAge seconds after its end, so what squeue does not list is asked of sacct. A job that
    sacct takes for active and squeue does not list has ended a moment ago, or was lost: it is left out. Where squeue
    does not answer, a job of which sacct knows no end counts as active.
    """
    wanted = set(jobs)
    queue = await ask([*SQUEUE, f"--name={run}"])
    known = {job: state for job, state in _read(queue or "").items() if job in wanted}
    absent = sorted(wanted - set(known))
    told = await ask([*SACCT, "--format=JobID,State", f"--jobs={','.join(absent)}"]) if absent else ""
    if queue is None and told is None:
        return None
    known |= {job: state for job, state in _read(told or "").items() if job in wanted and state not in ACTIVE}
    return known if queue is not None else dict.fromkeys(wanted, "PENDING") | known


async def reason(job: str, state: str, mem_mb: int, ask: Ask = ask) -> str:
    """Why a job ended, in one line: the state, and what accounting says beside it where it answers.

    The memory is what was asked for: in the second after a short job's end sacct can print `16?` for it.
    """
    said = await ask([*SACCT, f"--format={','.join(TOLD)}", f"--jobs={job}"])
    if not said or not said.strip():
        return state
    full, code, nodes, limit, elapsed = said.splitlines()[0].split("|")
    beside = {
        "OUT_OF_MEMORY": f"it was granted {mem_mb}M",
        "TIMEOUT": f"it was granted {limit}",
        "NODE_FAIL": f"on {nodes}",
        "FAILED": f"exit code {code}, after {elapsed}" + (f"; it was granted {mem_mb}M" if code == KILLED else ""),
        "CANCELLED": f"after {elapsed}",
    }.get(state)
    return f"{full} ({beside})" if beside else full


async def nodes(job: str, ask: Ask = ask) -> set[str]:
    """Where a job ran, as accounting has it."""
    said = await ask([*SACCT, "--format=NodeList", f"--jobs={job}"])
    return {name for name in (said or "").split() if not name.startswith("None")}
