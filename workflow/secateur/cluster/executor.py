"""What snakemake-executor-plugin-slurm 2.8 gets wrong, put right in the process that submits (docs/cluster.md).

And one thing of Snakemake's own: with retries, what the driver runs itself is repeated after bad input too.

- A cancelled job is never noticed, one that the controller has forgotten runs for ever: states come from squeue and sacct.
- Its polls back off to three minutes: they are `POLL` seconds apart.
- A controller that is away for a minute ends the run: sbatch is called with patience (`cluster.submit`).
- A job that read bad input is repeated, one that was killed leaves no word: both are told from `failure.json`.
- A group that cannot be submitted is never heard of again: it fails.
- A GPU is held by jobs whose option reads no model here: they go where all others go.
- Each job starts a second Snakemake inside its allocation, and those of a group run beside each other on whatever cores their
  node shows: one runs them, one after another (`cluster.needs`).
"""

import asyncio
import os
import re
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from importlib.metadata import version
from typing import Any

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from secateur.cluster.needs import default, forget_gpu, needs_gpu, settings_of
from secateur.cluster.states import ACTIVE, nodes, reason, states
from secateur.core.artifacts import read_json

__all__ = ["mend"]

PLUGIN, VERSIONS = "snakemake-executor-plugin-slurm", "2.8."  # whose faults these are
INNER = ("--executor slurm-jobstep --jobs 1", "--executor local")
POLL = 8.0  # seconds; SECATEUR_SLURM_POLL
LOST = 4  # polls in a row at which nobody knows a job: it is gone, and what it wrote decides

_unseen: Counter[str] = Counter()


def mend() -> None:
    """Mend the plugin where Snakemake has loaded it, once, and only the version that has these faults; local jobs always."""
    from snakemake.executors import local

    local.Executor.handle_job_error = _counted(local.Executor.handle_job_error)
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if plugin is None or hasattr(plugin, "mended") or not version(PLUGIN).startswith(VERSIONS):
        return
    os.environ["SECATEUR_DRIVER"] = str(os.getpid())  # to whom cluster.submit speaks
    poll = float(os.environ.get("SECATEUR_SLURM_POLL", POLL))
    executor = plugin.Executor
    executor.check_active_jobs = check_active_jobs
    executor.next_seconds_between_status_checks = property(lambda self: poll, lambda self, value: None)
    executor.__post_init__ = _started(executor.__post_init__)
    executor.run_job = _placed(executor.run_job)
    executor.format_job_exec = _at_once(executor.format_job_exec)
    plugin.get_submit_command = _patient(plugin.get_submit_command)
    plugin.mended = True


def _started(first: Callable) -> Callable:
    """Let a terminal that is closed end a run as Ctrl-C does: its jobs are cancelled, the lock is taken away."""

    def started(self: Any, *rest: Any) -> None:
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not under nohup
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        first(self, *rest)

    return started


def _patient(first: Callable) -> Callable:
    def command(*rest: Any, **named: Any) -> str:
        call = first(*rest, **named)
        return call.replace("sbatch ", f"{shlex.quote(sys.executable)} -m secateur.cluster.submit ", 1)

    return command


def _counted(first: Callable) -> Callable:
    """Count a job that would end in the same way again as one that has had its last attempt."""
    started = time.time()  # what an earlier driver's job left says nothing of this one's

    def handle_job_error(self: Any, job: Any) -> None:
        from secateur.stage.contract import job_of

        failure = job_of(job.rule.name, job).record.with_name("failure.json")
        if failure.is_file() and failure.stat().st_mtime >= started and read_json(failure).get("final"):
            job.attempt = max(job.attempt, job.restart_times + 1)
        first(self, job)

    return handle_job_error


def _placed(first: Callable) -> Callable:
    """Submit a job that needs no GPU to the default partition, without one. Of a group's `cluster.needs` has thought."""

    def run_job(self: Any, job: Any) -> None:
        if not job.is_group() and not needs_gpu(settings_of(job)):
            forget_gpu(job.resources, default(self.workflow, "slurm_partition"))
        try:
            first(self, job)
        except Exception as error:  # in a thread that nobody asks: the plugin's own handler fails for a group
            said = f"it could not be submitted: {error.__context__ or error!r}"
            _say(self, job, said)
            self._report_job_error_threadsafe(SubmittedJobInfo(job), said)

    return run_job


def _say(self: Any, job: Any, said: str) -> None:
    """Say of a group why it failed: Snakemake says so of single jobs alone."""
    if job.is_group():
        self.logger.error(said)


def _at_once(first: Callable) -> Callable:
    """Have a job's stages run by the Snakemake that its allocation starts, on the cores that were asked for: neither by one
    more Snakemake for each, nor beside each other on all cores that the node shows."""

    def format_job_exec(self: Any, job: Any) -> str:
        return re.sub(r"--cores \S+", f"--cores {job.threads}", first(self, job)).replace(*INNER)

    return format_job_exec


async def check_active_jobs(self: Any, active_jobs: list[Any]) -> AsyncIterator[Any]:
    """Report the jobs that have ended; yield the others. Where SLURM does not answer, none has."""
    known = await states(self.run_uuid, [one.external_jobid for one in active_jobs]) if active_jobs else {}
    if known is None:
        self.logger.warning("SLURM answers neither squeue nor sacct; it is asked again")
    for one in active_jobs:
        state = "PENDING" if known is None else known.get(one.external_jobid)
        _unseen[one.external_jobid] += 1
        if state is not None:
            del _unseen[one.external_jobid]
        if state in ACTIVE or (state is None and _unseen[one.external_jobid] < LOST):
            yield one
        elif state in (None, "COMPLETED"):
            self.report_job_success(one)  # Snakemake looks for what it wrote
        else:
            await _ended(self, one, state)


async def _ended(self: Any, one: Any, state: str) -> None:
    """Report a job that failed: why, in its record too, and whether it may be tried again."""
    why = await reason(one.external_jobid, state, one.job.resources["mem_mb"])
    said = f"SLURM job {one.external_jobid}: {why}"
    if state == "NODE_FAIL":
        self._failed_nodes |= await nodes(one.external_jobid)
    own, final = await asyncio.to_thread(_noted, one, said)
    if final:
        one.job.attempt = max(one.job.attempt, one.job.restart_times + 1)
    said = f"{said}. {own}"
    _say(self, one.job, said)
    self.report_job_error(one, msg=said, aux_logs=[str(one.aux.get("slurm_logfile", ""))])


def _noted(one: Any, said: str) -> tuple[str, bool]:
    """What a job's stage wrote of its failure, and whether it would end in the same way again.

    Where it was killed before it could, SLURM's reason is written for it: of a group, for the job that was at work.
    """
    from secateur.stage.contract import job_of, record_kill

    jobs = [job_of(job.rule.name, job) for job in (one.job if one.job.is_group() else [one.job])]
    left = [job for job in jobs if not job.record.is_file()] or jobs
    for job in left:
        failure = job.record.with_name("failure.json")
        if failure.is_file() and (found := read_json(failure)).get("slurm_job") == one.external_jobid:
            own = f"{job.rule}: {found['failure']}" if len(jobs) > 1 else str(found["failure"])
            return own, bool(found.get("final"))
    record_kill(left[0], said, one.external_jobid)
    return "", False
